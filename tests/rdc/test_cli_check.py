"""`rdc check`, the options that all commands share, and `docs-url`, which links messages to pages."""

import io
import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest

from rdc.cli import main
from rdc.documents.table import schema
from tests.support.cli import GOOD, MISSING_TITLE, TOLERATED, UNKNOWN_TARGET, call, document, ended, fork, spawn

pytestmark = pytest.mark.process


def test_an_error_is_shown_with_its_line(tmp_path: Path) -> None:
    document(tmp_path, "c.runbook.md", GOOD)
    result = call("check", "c.runbook.md", cwd=tmp_path)
    assert (result.code, result.out, result.err) == (0, "", "no problems in 1 file\n")
    assert call("check", "-q", "c.runbook.md", cwd=tmp_path).err == ""
    document(tmp_path, "a.runbook.md", UNKNOWN_TARGET)
    result = call("check", "a.runbook.md", cwd=tmp_path)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("a.runbook.md:9:")
    assert "error[RD201]: " in result.err
    assert "\n9 | - PASS: GOTO 9\n" in result.err
    assert "\n  = explain: rdc explain RD201\n" in result.err
    assert result.err.endswith("\n\n1 error in 1 file\n")
    document(tmp_path, "b/b.runbook.md", UNKNOWN_TARGET)
    result = call("check", "c.runbook.md", "b/b.runbook.md", "a.runbook.md", "missing.runbook.md", cwd=tmp_path)
    assert result.code == 1
    assert result.err.index("a.runbook.md:9") < result.err.index("b/b.runbook.md:9") < result.err.index("RD001")
    assert result.err.endswith("3 errors in 3 files\n")


def test_a_runbook_that_is_given_twice_or_that_two_documents_include_is_reported_once(tmp_path: Path) -> None:
    document(tmp_path, "part.runbook.md", UNKNOWN_TARGET)
    assert call("check", "part.runbook.md", "part.runbook.md", cwd=tmp_path).err.count("RD201]") == 1
    for name in ("a", "b"):
        document(tmp_path, f"{name}.runbook.md", "# Whole\n\n## 1. Part\n\n- part.runbook.md\n")
    result = call("check", "a.runbook.md", "b.runbook.md", cwd=tmp_path)
    assert result.err.count("error[RD201]") == 1
    assert "\n9 | - PASS: GOTO 9\n" in result.err


def test_warnings_fail_if_strict_and_notes_never_do(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", MISSING_TITLE)
    assert call("check", "a.runbook.md", cwd=tmp_path).code == 0
    assert "warning[RD036]" in call("check", "--strict", "a.runbook.md", cwd=tmp_path).exits(1).err
    document(tmp_path, "a.runbook.md", TOLERATED)
    result = call("check", "--strict", "a.runbook.md", cwd=tmp_path)
    assert (result.code, "note[RD405]" in result.err) == (0, True)
    assert result.err.endswith("1 note in 1 file\n")
    assert call("check", "-q", "a.runbook.md", cwd=tmp_path).err == ""


def test_options_for_included_runbooks_and_the_layout_of_transitions(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", "# Whole\n\n## 1. Part\n\n- part.runbook.md\n")
    assert "RD301" in call("check", "a.runbook.md", cwd=tmp_path).err
    assert call("check", "--no-link", "a.runbook.md", cwd=tmp_path).code == 0
    document(tmp_path, "a.runbook.md", "# Deploy\n\n## 1. Build\n\n- FAIL: STOP\n\n```bash\ntrue\n```\n")
    assert call("check", "--strict", "a.runbook.md", cwd=tmp_path).code == 0
    assert "RD113" in call("check", "--transitions", "after-body", "a.runbook.md", cwd=tmp_path).err


def test_formats_for_machines_go_to_standard_output(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", UNKNOWN_TARGET)
    document(tmp_path, "b.runbook.md", GOOD)
    for form in ("json", "sarif"):
        result = call("check", "--format", form, "a.runbook.md", cwd=tmp_path)
        assert (result.code, result.err) == (1, "")
        json.loads(result.out)
    shown = call("check", "--format", "github", "a.runbook.md", cwd=tmp_path).out
    assert shown.startswith("::error file=a.runbook.md,line=9,")
    assert json.loads(call("check", "--format", "json", "b.runbook.md", cwd=tmp_path).out)["diagnostics"] == []
    assert call("check", "--format", "github", "b.runbook.md", cwd=tmp_path).out == ""


def test_color_is_for_terminals_and_those_who_ask(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", UNKNOWN_TARGET)
    assert "\x1b[" not in spawn("check", "a.runbook.md", cwd=tmp_path).err
    assert "\x1b[" in spawn("check", "a.runbook.md", cwd=tmp_path, FORCE_COLOR="1").err
    assert "\x1b[" not in spawn("check", "a.runbook.md", cwd=tmp_path, FORCE_COLOR="1", NO_COLOR="1").err


@pytest.mark.parametrize(
    ("names", "remedy"),
    [
        (("ops/bakcup.runbook.md", "ops/backup.runbok.md"), "did you mean `ops/backup.runbook.md`?"),
        (("ops/bakup.runbook.mdd", "ops/backup.md", "ops/backup"), "did you mean `ops/backup.runbook.md`?"),
        (("ops/backup.yaml", "ops/x.runbook.md"), "check the name and the current folder"),
        (("ops/backup.playbook.md", "none/backup.runbook.md"), "check the name and the current folder"),
    ],
)
def test_a_missing_file_is_compared_with_its_neighbors(names: tuple[str, ...], remedy: str, tmp_path: Path) -> None:
    document(tmp_path, "ops/backup.runbook.md", GOOD)
    for name in names:
        assert f"help: {remedy}" in call("check", name, cwd=tmp_path).err


URL = "https://docs.example.org/rdc"
PAGE = f"{URL}/diagnostics/RD201.html"
BAD = "# Deploy\n\n## 1. Build\n\n```bash\ntrue\n```\n\n- PASS: GOTO 10\n"

WRONG = (
    *("docs.example.org", "javascript:alert(1)", "https://", "file://host/x", "https://a b", "https://a/?q"),
    *("https://é", "https://a/\x1b]8;;", "https://a/\x07", "https://a/\nb", 'https://a/"', "https://a/\u202e"),
    *("https://x.org/a b", "https://a/'", "https://a/#x", "file:///", "file:////etc"),
)
LONG = "https://a/" + "b" * 3000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    document(tmp_path, "a.runbook.md", BAD)
    configure(tmp_path, URL)
    return tmp_path


def configure(folder: Path, address: str) -> None:
    (folder / "rdc.toml").write_text(f"docs-url = {json.dumps(address)}\n", encoding="utf-8")


def at_a_terminal(folder: Path, *words: str, **variables: str) -> str:
    """Run rdc with a terminal as its standard error, and return the text there."""
    master, slave = os.openpty()

    def act() -> int:
        os.dup2(slave, 2)
        sys.stderr, sys.stdout = open(2, "w", encoding="utf-8"), io.StringIO()  # noqa: SIM115 (the fork ends)
        os.environ.clear()
        os.environ.update({"PATH": os.defpath, "TERM": "xterm", **variables})
        os.chdir(folder)
        code = main(words)
        sys.stderr.flush()
        return code

    ended(fork(act))
    os.close(slave)
    found = os.read(master, 100_000).decode()
    os.close(master)
    return found


def test_a_code_is_a_link_at_a_terminal_with_colors(folder: Path) -> None:
    assert f"\x1b]8;;{PAGE}\x1b\\RD201\x1b]8;;\x1b\\" in at_a_terminal(folder, "check", "a.runbook.md")
    assert "\x1b]8" not in at_a_terminal(folder, "check", "a.runbook.md", NO_COLOR="1")
    assert "\x1b]8" not in at_a_terminal(folder, "check", "a.runbook.md", TERM="dumb")


def test_reports_have_the_address_and_files_no_link(folder: Path) -> None:
    output = call("check", "a.runbook.md", cwd=folder).err
    assert ("error[RD201]" in output, "\x1b" in output) == (True, False)
    found = json.loads(call("check", "a.runbook.md", "--format", "json", cwd=folder).out)["diagnostics"]
    assert [one["url"] for one in found] == [f"{URL}/diagnostics/{one['code']}.html" for one in found]
    assert found
    sarif = json.loads(call("check", "a.runbook.md", "--format", "sarif", cwd=folder).out)
    assert PAGE in [rule["helpUri"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]]
    assert call("explain", "RD201", cwd=folder).out.endswith(f"\n\n{PAGE}\n")


def test_a_document_of_another_project_has_no_say(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere, path = tmp_path_factory.mktemp("elsewhere"), str(folder / "a.runbook.md")
    (elsewhere / "rdc.toml").touch()
    assert '"url"' not in call("check", path, "--format", "json", cwd=elsewhere).out
    assert "\x1b]8" not in at_a_terminal(elsewhere, "check", path)
    configure(elsewhere, "https://docs.example.com")
    found = json.loads(call("check", path, "--format", "json", cwd=elsewhere).out)["diagnostics"]
    assert found[0]["url"] == "https://docs.example.com/diagnostics/RD201.html"


def test_addresses_that_rdc_takes(folder: Path) -> None:
    for address in ("https://docs.example.org", "http://localhost:8000/x/", "file:///srv/rdc%20docs"):
        configure(folder, address)
        assert call("explain", "RD201", cwd=folder).out.endswith(f"\n\n{address.rstrip('/')}/diagnostics/RD201.html\n")
        jsonschema.validate({"docs-url": address}, schema())
    (folder / "rdc.toml").unlink()
    (folder / "pyproject.toml").write_text(f'[tool.rdc]\ndocs-url = "{URL}/"\n', encoding="utf-8")
    assert call("explain", "RD201", cwd=folder).out.endswith(f"\n\n{PAGE}\n")


def test_nothing_changes_without_it_and_another_type_is_an_error(folder: Path) -> None:
    (folder / "rdc.toml").write_text("docs-url = 3\n", encoding="utf-8")
    assert "error[RD501]" in call("check", "a.runbook.md", cwd=folder).err
    (folder / "rdc.toml").write_text("", encoding="utf-8")
    assert "\x1b]8" not in at_a_terminal(folder, "check", "a.runbook.md")
    assert "https://" not in call("explain", "RD201", cwd=folder).out
    for form, key in (("json", '"url"'), ("sarif", "helpUri")):
        assert key not in call("check", "a.runbook.md", "--format", form, cwd=folder).out


@pytest.mark.share(3)
@pytest.mark.parametrize("address", [*WRONG, LONG])
def test_addresses_that_are_errors(folder: Path, address: str) -> None:
    configure(folder, address)
    result = call("check", "a.runbook.md", cwd=folder).exits(1)
    assert "rdc.toml:1:1: error[RD501]" in result.err
    is_long = address == LONG
    assert ("`docs-url` has more than 2,000" if is_long else "`docs-url` must be an ASCII address") in result.err
    assert call("explain", "RD201", cwd=folder).out.count("diagnostics/RD201") == 0
    assert "\x1b" not in address or "\x1b]8" not in at_a_terminal(folder, "check", "a.runbook.md")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"docs-url": address}, schema())
