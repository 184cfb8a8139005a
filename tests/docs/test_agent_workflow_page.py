"""The page about agent workflows is true: its first workflow can be pasted and run, what it shows is what rdc does."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from compiler.frontends.agent_workflow.syntax import Step, Workflow
from compiler.frontends.agent_workflow.verdicts import candidates
from compiler.reading.yaml import read_mapping
from runtime_shim.tasks.verdicts import LISTED
from tests.compiler.frontends.agent_workflow.workflows import compiled, findings, steps
from tests.conftest import ROOT
from tests.support.cli import call, spawn
from tests.support.pages import blocks

PAGE = (ROOT / "docs" / "formats" / "agent_workflow.md").read_text(encoding="utf-8")
BLOCKS = blocks("docs/formats/agent_workflow.md")
NAME = "first-note.workflow.yaml"

# It says GOOD, whatever it is asked.
LLM = "#!/bin/sh\ncat > /dev/null\necho GOOD\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the first workflow of the page, and an `llm`."""
    (tmp_path / "rdc.toml").touch()
    (tmp_path / NAME).write_text(BLOCKS[0].text, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "llm").write_text(LLM, encoding="utf-8")
    (tmp_path / "bin" / "llm").chmod(0o755)
    return tmp_path


def commands() -> list[list[str]]:
    """The commands that the page shows, as words after `rdc`."""
    return [shlex.split(line.partition(" < ")[0]) for line in re.findall(r"^\$ rdc (.*)$", PAGE, re.MULTILINE)]


def run(folder: Path, *words: str, given: str = "") -> tuple[int, str]:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = spawn(*words, cwd=folder, given=given, PATH=path)
    return done.code, done.out + done.err


def test_the_first_workflow_is_that_of_the_examples(folder: Path) -> None:
    example = (ROOT / "examples" / "workflows" / NAME).read_text(encoding="utf-8")
    assert (folder / NAME).read_text(encoding="utf-8") == example.partition("\n")[2]
    assert call("check", "--strict", NAME, cwd=folder).code == 0
    assert call("fmt", "--check", NAME, cwd=folder).code == 0


def test_the_first_workflow_runs_with_an_agent(folder: Path) -> None:
    _, with_agent, *_ = commands()
    code, said = run(folder, *with_agent)
    assert (code, said.splitlines()[-1]) == (0, "rdc: COMPLETE"), said
    reports = {path.name for path in (folder / ".rdc" / "first-note" / "reports").iterdir()}
    assert reports == {"draft.md", "check.md", "finish.md"}
    prompt = (folder / ".rdc" / "first-note" / "prompts" / "draft.1").read_text(encoding="utf-8")
    shown = next(block.text for block in BLOCKS if block.kind == "text")
    place = f"Reports are in: {folder}/.rdc/first-note/reports"
    head, _, rest = re.sub("Reports are in: .*", place, shown).partition("What check said")
    assert prompt == head + rest.partition("AGAIN\n\n")[2].rstrip("\n")


def test_the_first_workflow_runs_without_an_agent(folder: Path) -> None:
    _, _, without, answer, resume, *_ = commands()
    assert run(folder, *without)[0] == 75
    assert run(folder, *answer, given="A draft.\n")[0] == 0
    code, said = run(folder, *resume)
    assert code == 75
    assert "rdc: WAITING check" in said


def test_the_tables_have_every_key() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## The prompt")[0], re.MULTILINE)
    assert sorted(rows) == sorted([*Workflow.model_fields, *Step.model_fields])
    assert all(word.upper() in PAGE for word in LISTED)


def test_options_and_scenarios_of_the_page_are_right(folder: Path) -> None:
    options, scenarios = (
        next(block.text for block in BLOCKS if block.text.startswith(key)) for key in ("rdc:", "sent")
    )
    some = "- {name: implement, prompt: x, next: review}\n- {name: review, agent: planner, prompt: x, end: true}\n"
    text = f"name: a\n{options}steps:\n{some}"
    assert findings(compiled(folder, text)) == []
    (folder / "first-note.scenarios.yaml").write_text(scenarios, encoding="utf-8")
    assert call("test", NAME, cwd=folder).code == 0


@pytest.mark.parametrize(
    "row", re.findall(r"^\| (`.*) \| (.*) \|$", PAGE[PAGE.index("| pattern |") :], re.MULTILINE)[:5]
)
def test_the_table_of_patterns_is_true(row: tuple[str, str], tmp_path: Path) -> None:
    patterns = re.findall(r"`([^`]+)`", row[0].replace("\\|", "|"))
    is_named = "condition for GOOD" in row[0]
    words = [] if row[1].startswith("none") else [word.strip("` ") for word in row[1].split(", ")]
    conditions = ", conditions: [{keyword: GOOD, goto: one}]" if is_named else ""
    for pattern in patterns:
        report = f"report: {{name: r, format: f, validation: '{pattern}'}}"
        text = f"- {{name: one, prompt: x, end: true, {report}{conditions}}}"
        assert steps(tmp_path, text).program
        step = Workflow.model_validate(read_mapping(f"name: a\nsteps:\n{text}").as_written).steps[0]
        assert [word for word in candidates(step) if word not in ("TASK_DONE", "GOOD")] == words
