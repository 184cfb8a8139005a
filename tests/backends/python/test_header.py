"""The header of a Python program: it explains the settings that the program has, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backends.python.program import wrapped
from backends.registry import load
from compiler.driver import compile_file
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"


def header(path: Path, target: str = "python") -> str:
    """The comments above the imports, as one line."""
    program = compile_file(str(path)).program
    assert program is not None
    text = load(target).emit(program, {}).text or ""
    return " ".join(line.removeprefix("#").strip() for line in text.partition("\n\n")[0].splitlines())


SAID = {
    "deploy-with-rollback.runbook.md": ("`bash -c STRING`, without `-e` and `pipefail`", "`agent"),
    "code-review.runbook.md": ("A `block` is shown with the question. It never runs.", "-c STRING"),
    "database-failover.runbook.md": ("`{{NAME}}` shows the value. It is never put into a command.", "--agent COMMAND"),
    "playbooks/issue-triage.playbook.md": ("The inputs `issue` and `project` go into prompts unchanged", "`bash"),
    "playbooks/change-review.playbook.md": ("--tool CONNECTION=COMMAND` sets", "`parallel`"),
    "workflows/dependency-update.workflow.yaml": ("skips all later steps and gates.", "In `parallel`"),
    "workflows/security-audit.workflow.yaml": ("In `parallel`, all agents must answer with it", "`none` means"),
    "specifications/checked-code.stepspec.yaml": (
        "Without mypy, this check is skipped: the run says so, and the step can pass.",
        "`gate`",
    ),
    "specifications/publish-notes.stepspec.yaml": ("A tool without `required` may fail", "is tried again"),
}
"""A document, a sentence that its header has, and a string that it does not have."""


@pytest.mark.parametrize("target", ["python", "dbos"])
@pytest.mark.parametrize("name", SAID)
def test_the_header_explains_the_settings_of_the_program(name: str, target: str) -> None:
    has, lacks = SAID[name]
    text = header(EXAMPLES / name, target)
    assert has in text
    assert lacks not in text


def test_the_header_names_the_outcomes_that_end_with_exit_code_0() -> None:
    text = header(EXAMPLES / "workflows/security-audit.workflow.yaml")
    ends = "`audit` (TASK_DONE), `triage` (TASK_DONE) and `report` (TASK_DONE, other outcomes)."
    assert f"Exit code 0 means COMPLETE, which follows after {ends}" in text


def test_programs_of_checks_are_needed() -> None:
    text = header(EXAMPLES / "specifications/checked-code.stepspec.yaml")
    assert "Python 3.9 or newer. Uses mypy and ruff if they are installed." in text
    assert "Python 3.9 or newer and git." in header(EXAMPLES / "specifications/publish-notes.stepspec.yaml")


def test_workers_of_a_project_with_a_name_share_no_runs(tmp_path: Path) -> None:
    document = "## 1. Do\n\n```bash\ntrue\n```\n"
    (tmp_path / "a.runbook.md").write_text(document, encoding="utf-8")
    assert "of another project has the same runs" in header(tmp_path / "a.runbook.md", "dbos")
    assert "[project]` in rdc.toml. Workers of another" not in header(tmp_path / "a.runbook.md", "dbos")
    (tmp_path / "rdc.toml").write_text('[project]\nname = "shop"\n', encoding="utf-8")
    text = header(tmp_path / "a.runbook.md", "dbos")
    assert "of another project has the same runs" not in text
    assert "`project` is the `name` under `[project]` in rdc.toml." in text


def test_workers_pin_the_versions_that_rdc_is_tested_with() -> None:
    locked = re.findall(r"^(\S+==\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    text = header(EXAMPLES / "specifications/checked-code.stepspec.yaml", "dbos")
    pinned = re.findall(r"\"(\S+==[^\"]+)\"", text)
    assert [each.partition("==")[0] for each in pinned] == ["dbos", "prometheus-client", "mypy", "ruff"]
    assert set(pinned) <= set(locked)
    assert '"mypy==' not in header(EXAMPLES / "specifications/publish-notes.stepspec.yaml", "dbos")


def test_a_long_sentence_continues_between_code_spans() -> None:
    span = "`a code span`"
    lines = wrapped(" ".join([span] * 40) + "\nshort").splitlines()
    assert lines[-1] == "# short"
    assert all(re.fullmatch(rf"#(?: {span})+", line) and len(line) <= 120 for line in lines[:-1])
    assert wrapped("one\x1b[31m\ntwo") == "# one [31m\n# two\n"
