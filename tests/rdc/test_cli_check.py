"""`rdc check`, and the options that all commands share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import GOOD, MISSING_TITLE, TOLERATED, UNKNOWN_TARGET, call, document, spawn

pytestmark = pytest.mark.process


def test_a_good_document(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", GOOD)
    result = call("check", "a.runbook.md", cwd=tmp_path)
    assert (result.code, result.out, result.err) == (0, "", "no problems in 1 file\n")
    assert call("check", "-q", "a.runbook.md", cwd=tmp_path).err == ""


def test_an_error_is_shown_with_its_line(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", UNKNOWN_TARGET)
    result = call("check", "a.runbook.md", cwd=tmp_path)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("a.runbook.md:9:")
    assert "error[RD201]: " in result.err
    assert "\n9 | - PASS: GOTO 9\n" in result.err
    assert "\n  = explain: rdc explain RD201\n" in result.err
    assert result.err.endswith("\n\n1 error in 1 file\n")


def test_every_file_is_reported(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", UNKNOWN_TARGET)
    document(tmp_path, "b/b.runbook.md", UNKNOWN_TARGET)
    document(tmp_path, "c.runbook.md", GOOD)
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


def test_warnings_fail_if_strict(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", MISSING_TITLE)
    assert call("check", "a.runbook.md", cwd=tmp_path).code == 0
    result = call("check", "--strict", "a.runbook.md", cwd=tmp_path)
    assert result.code == 1
    assert "warning[RD036]" in result.err


def test_notes_never_fail_and_are_not_for_the_quiet(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", TOLERATED)
    result = call("check", "--strict", "a.runbook.md", cwd=tmp_path)
    assert result.code == 0
    assert "note[RD405]" in result.err
    assert result.err.endswith("1 note in 1 file\n")
    assert call("check", "-q", "a.runbook.md", cwd=tmp_path).err == ""


def test_no_link_does_not_ask_for_included_runbooks(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", "# Whole\n\n## 1. Part\n\n- part.runbook.md\n")
    assert "RD301" in call("check", "a.runbook.md", cwd=tmp_path).err
    assert call("check", "--no-link", "a.runbook.md", cwd=tmp_path).code == 0


def test_the_layout_of_transitions_can_be_said(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", "# Deploy\n\n## 1. Build\n\n- FAIL: STOP\n\n```bash\ntrue\n```\n")
    assert call("check", "--strict", "a.runbook.md", cwd=tmp_path).code == 0
    assert "RD113" in call("check", "--transitions", "after-body", "a.runbook.md", cwd=tmp_path).err


def test_formats_for_machines_go_to_standard_output(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", UNKNOWN_TARGET)
    for form in ("json", "sarif"):
        result = call("check", "--format", form, "a.runbook.md", cwd=tmp_path)
        assert (result.code, result.err) == (1, "")
        json.loads(result.out)
    result = call("check", "--format", "github", "a.runbook.md", cwd=tmp_path)
    assert result.out.startswith("::error file=a.runbook.md,line=9,")
    document(tmp_path, "b.runbook.md", GOOD)
    assert json.loads(call("check", "--format", "json", "b.runbook.md", cwd=tmp_path).out)["diagnostics"] == []
    assert call("check", "--format", "github", "b.runbook.md", cwd=tmp_path).out == ""


def test_color_is_for_terminals_and_those_who_ask(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", UNKNOWN_TARGET)
    assert "\x1b[" not in spawn("check", "a.runbook.md", cwd=tmp_path).err
    assert "\x1b[" in spawn("check", "a.runbook.md", cwd=tmp_path, FORCE_COLOR="1").err
    assert "\x1b[" not in spawn("check", "a.runbook.md", cwd=tmp_path, FORCE_COLOR="1", NO_COLOR="1").err


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("ops/bakcup.runbook.md", "did you mean `ops/backup.runbook.md`?"),
        ("ops/backup.runbok.md", "did you mean `ops/backup.runbook.md`?"),
        ("ops/bakup.runbook.mdd", "did you mean `ops/backup.runbook.md`?"),
        ("ops/backup.md", "did you mean `ops/backup.runbook.md`?"),
        ("ops/backup", "did you mean `ops/backup.runbook.md`?"),
        ("ops/backup.yaml", "check the name and the current folder"),
        ("ops/x.runbook.md", "check the name and the current folder"),
        ("ops/backup.playbook.md", "check the name and the current folder"),
        ("none/backup.runbook.md", "check the name and the current folder"),
    ],
)
def test_a_missing_file_is_compared_with_its_neighbors(name: str, remedy: str, tmp_path: Path) -> None:
    document(tmp_path, "ops/backup.runbook.md", GOOD)
    assert f"help: {remedy}" in call("check", name, cwd=tmp_path).err
