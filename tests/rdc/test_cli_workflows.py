"""Agent workflows on the command line: check, schema, fmt, trace, test, diff and compile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import ROOT, call

SHIP = """name: ship
steps:
  - name: write
    prompt: x
    next: review
  - name: review
    prompt: x
    end: true
    conditions: [{keyword: BAD, goto: write}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "a.workflow.yaml").write_text(SHIP, encoding="utf-8")
    return tmp_path


def test_findings_as_json_have_their_places(folder: Path) -> None:
    (folder / "a.workflow.yaml").write_text(SHIP.replace("next: review", "next: reviw"), encoding="utf-8")
    result = call("check", "a.workflow.yaml", "--format", "json", cwd=folder)
    (found, _) = json.loads(result.out)["diagnostics"]
    assert (found["code"], found["line"], found["column"], found["end_column"]) == ("RD817", 5, 5, 16)
    assert "did you mean `review`" in found["message"]


def test_workflows_of_a_folder_are_found_and_named_formats_taken(folder: Path) -> None:
    (folder / "b.yaml").write_text("name: b\nsteps: []\n", encoding="utf-8")
    assert call("check", ".", cwd=folder).code == 0
    assert call("check", "b.yaml", cwd=folder).code == 1
    assert "[RD804]" in call("check", "b.yaml", "--from", "agent-workflow", cwd=folder).err
    wrong = call("check", "b.yaml", "--from", "agentflow", cwd=folder)
    assert wrong.code == 2
    assert "agent-workflow" in wrong.err


def test_the_schema_is_printed_and_listed(tmp_path: Path) -> None:
    for name in ("agent-workflow", "program"):
        published = (ROOT / "docs" / f"{name}.schema.json").read_text(encoding="utf-8")
        assert call("schema", name, cwd=tmp_path).out == published
        assert name in call("schema", cwd=tmp_path).out
    schema = json.loads(call("schema", "agent-workflow", cwd=tmp_path).out)
    assert schema["required"] == ["name", "steps"]
    assert all("description" in value for part in schema["$defs"].values() for value in part["properties"].values())
    wrong = call("schema", "agent-workflw", cwd=tmp_path)
    assert (wrong.code, "agent-workflow" in wrong.err) == (2, True)


def test_a_trace_goes_on_by_the_first_condition(folder: Path) -> None:
    said = call("trace", "a.workflow.yaml", "--outcomes", "review=BAD,none", cwd=folder).out
    lines = [line.split() for line in said.splitlines()]
    assert [line[:2] for line in lines] == [
        *(["write", "none"], ["review", "BAD"], ["write", "none"], ["review", "none"], ["=>", "COMPLETE"])
    ]
    assert "goto write" in said


def test_versions_are_compared(folder: Path) -> None:
    (folder / "b.workflow.yaml").write_text(SHIP.replace("BAD", "POOR"), encoding="utf-8")
    said = call("diff", "a.workflow.yaml", "b.workflow.yaml", cwd=folder).out
    assert "> review: BAD · with its answer: write -> POOR · with its answer: write" in said


def test_a_workflow_is_formatted(folder: Path) -> None:
    (folder / "a.workflow.yaml").write_text(SHIP.replace("\n", " \n"), encoding="utf-8")
    assert call("fmt", "--check", "a.workflow.yaml", cwd=folder).code == 1
    assert call("fmt", "a.workflow.yaml", cwd=folder).code == 0
    assert (folder / "a.workflow.yaml").read_text(encoding="utf-8") == SHIP


def test_gates_and_entries_in_scenarios(folder: Path) -> None:
    entries = "parallel: [{agent: a, prompt: x}, {agent: b, prompt: y}]"
    gated = SHIP.replace("review\n    prompt: x", f"review\n    human: true\n    check: all\n    {entries}")
    scenarios = """scenarios:
  good: {agents: {write: x, review_0: TASK_DONE, review_1: TASK_DONE}, answers: {review/human: approved},
         result: COMPLETE}
  rejected: {agents: {write: x}, answers: {review/human: rejected}, result: STOP}
  one is missing: {agents: {write: x, review_0: TASK_DONE}, answers: {review/human: approved}, result: COMPLETE}
  unknown: {agents: {review: x}, result: COMPLETE}
"""  # fmt: skip
    (folder / "a.workflow.yaml").write_text(gated + scenarios, encoding="utf-8")
    said = call("test", "a.workflow.yaml", cwd=folder)
    assert said.code == 1
    lines = [line.split()[0] for line in said.out.splitlines() if line[:1].isupper()]
    assert lines == ["PASSED", "PASSED", "FAILED", "FAILED"]
    assert "step review calls its agents, but the scenario has no answer for it" in said.out
    assert "`review_0`, `review_1`" in call("check", "a.workflow.yaml", cwd=folder).err
