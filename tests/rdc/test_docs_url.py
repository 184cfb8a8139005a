"""`docs-url` in rdc.toml: messages link to the page of a diagnostic."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest

from rdc.cli import main
from rdc.documents.table import schema
from tests.support.cli import call, document, ended, fork

pytestmark = pytest.mark.process

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


def test_a_code_is_a_link_at_a_terminal(folder: Path) -> None:
    assert f"\x1b]8;;{PAGE}\x1b\\RD201\x1b]8;;\x1b\\" in at_a_terminal(folder, "check", "a.runbook.md")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colors_gets_no_link(folder: Path, environment: dict[str, str]) -> None:
    assert "\x1b]8" not in at_a_terminal(folder, "check", "a.runbook.md", **environment)


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


def test_pyproject_has_it_too(folder: Path) -> None:
    (folder / "rdc.toml").unlink()
    (folder / "pyproject.toml").write_text(f'[tool.rdc]\ndocs-url = "{URL}/"\n', encoding="utf-8")
    assert call("explain", "RD201", cwd=folder).out.endswith(f"\n\n{PAGE}\n")


def test_nothing_changes_without_it_and_another_type_is_an_error(folder: Path) -> None:
    (folder / "rdc.toml").write_text("docs-url = 3\n", encoding="utf-8")
    assert "error[RD501]" in call("check", "a.runbook.md", cwd=folder).err
    (folder / "rdc.toml").write_text("", encoding="utf-8")
    assert "\x1b]8" not in at_a_terminal(folder, "check", "a.runbook.md")
    assert "https://" not in call("explain", "RD201", cwd=folder).out
    assert '"url"' not in call("check", "a.runbook.md", "--format", "json", cwd=folder).out
    assert "helpUri" not in call("check", "a.runbook.md", "--format", "sarif", cwd=folder).out


@pytest.mark.parametrize("address", ["https://docs.example.org", "http://localhost:8000/x/", "file:///srv/rdc%20docs"])
def test_addresses_that_rdc_takes(folder: Path, address: str) -> None:
    configure(folder, address)
    assert call("explain", "RD201", cwd=folder).out.endswith(f"\n\n{address.rstrip('/')}/diagnostics/RD201.html\n")
    jsonschema.validate({"docs-url": address}, schema())


@pytest.mark.parametrize("address", [*WRONG, LONG])
def test_addresses_that_are_errors(folder: Path, address: str) -> None:
    configure(folder, address)
    result = call("check", "a.runbook.md", cwd=folder)
    assert result.code == 1
    assert "rdc.toml:1:1: error[RD501]" in result.err
    is_long = address == LONG
    assert ("`docs-url` has more than 2,000" if is_long else "`docs-url` must be an ASCII address") in result.err
    assert call("explain", "RD201", cwd=folder).out.count("diagnostics/RD201") == 0
    assert "\x1b" not in address or "\x1b]8" not in at_a_terminal(folder, "check", "a.runbook.md")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"docs-url": address}, schema())
