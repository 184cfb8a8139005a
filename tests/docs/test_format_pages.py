"""The pages about formats are true: their documents can be pasted and run, and their lists agree with the code."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from compiler.frontends.agent_workflow.syntax import Step, Workflow
from compiler.frontends.agent_workflow.verdicts import candidates
from compiler.frontends.playbook.check.rules import ARTIFACTS, read
from compiler.frontends.playbook.parse.lines import DIRECTIVES, TYPES, patterns
from compiler.frontends.stepspec.check import KEYS
from compiler.frontends.stepspec.syntax import Document, Policy, Runtime, StepSpec, ToolCall, ToolCommand
from compiler.reading.yaml import read_mapping
from compiler.text.source import Source
from runtime_shim.stepspec.tool_schemas import BUILT_IN
from runtime_shim.tasks.verdicts import LISTED
from tests.compiler.frontends.agent_workflow import workflows
from tests.conftest import ROOT
from tests.support import stepspec_documents
from tests.support.cli import call, spawn
from tests.support.pages import blocks, titled

pytestmark = pytest.mark.process


def page(name: str) -> str:
    return (ROOT / "docs" / "formats" / name).read_text(encoding="utf-8")


WORKFLOWS, WORKFLOW_BLOCKS = page("agent_workflow.md"), blocks("docs/formats/agent_workflow.md")
PLAYBOOKS, PLAYBOOK_BLOCKS = page("playbook.md"), blocks("docs/formats/playbook.md")
SPECIFICATIONS = page("stepspec.md") + page("stepspec-runs.md")
WORKFLOW, PLAYBOOK = "first-note.workflow.yaml", "release-note.playbook.md"

GOOD = "#!/bin/sh\ncat > /dev/null\necho GOOD\n"
"""An `llm` that answers GOOD, whatever it is asked."""

LAST_LINE = "#!/bin/sh\nsed -n '/./h; ${x;p;}'\n"
"""An `llm` that answers with the last line of its prompt that is not blank."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the first workflow and the first playbook of their pages."""
    (tmp_path / "rdc.toml").touch()
    for name, at in ((WORKFLOW, "agent_workflow.md"), (PLAYBOOK, "playbook.md")):
        (tmp_path / name).write_text(titled(f"{name} from docs/formats/{at}")[1], encoding="utf-8")
    return tmp_path


def commands(text: str) -> list[list[str]]:
    """The commands that a page shows, as words after `rdc`."""
    return [shlex.split(line.partition(" < ")[0]) for line in re.findall(r"^\$ rdc (.*)$", text, re.MULTILINE)]


def run(folder: Path, code: int, *words: str, given: str = "", llm: str = "") -> str:
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "llm").write_text(llm, encoding="utf-8")
    (folder / "bin" / "llm").chmod(0o755 if llm else 0o644)
    done = spawn(*words, cwd=folder, given=given, PATH=f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert done.code == code, done.out + done.err
    return done.out + done.err


def test_the_first_workflow_runs_with_an_agent_and_without(folder: Path) -> None:
    example = (ROOT / "examples" / "workflows" / WORKFLOW).read_text(encoding="utf-8")
    assert (folder / WORKFLOW).read_text(encoding="utf-8") == example.partition("\n")[2]
    assert run(folder, 0, *commands(WORKFLOWS)[1], llm=GOOD).splitlines()[-1] == "rdc: COMPLETE"
    reports = {path.name for path in (folder / ".rdc" / "first-note" / "reports").iterdir()}
    assert reports == {"draft.md", "check.md", "finish.md"}
    prompt = (folder / ".rdc" / "first-note" / "prompts" / "draft.1").read_text(encoding="utf-8")
    shown = next(block.text for block in WORKFLOW_BLOCKS if block.kind == "text")
    place = f"Reports are in: {folder}/.rdc/first-note/reports"
    head, _, rest = re.sub("Reports are in: .*", place, shown).partition("What check said")
    assert prompt == head + rest.partition("AGAIN\n\n")[2].rstrip("\n")
    shutil.rmtree(folder / ".rdc")
    _, _, without, answer, resume, *_ = commands(WORKFLOWS)
    run(folder, 75, *without)
    run(folder, 0, *answer, given="A draft.\n")
    assert "rdc: WAITING check" in run(folder, 75, *resume)


def test_the_tables_of_workflows_have_every_key() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", WORKFLOWS.partition("## The prompt")[0], re.MULTILINE)
    assert sorted(rows) == sorted([*Workflow.model_fields, *Step.model_fields])
    assert all(word.upper() in WORKFLOWS for word in LISTED)


def test_options_and_scenarios_of_workflows_are_right(folder: Path) -> None:
    options, scenarios = (
        next(block.text for block in WORKFLOW_BLOCKS if block.text.startswith(key)) for key in ("rdc:", "sent")
    )
    some = "- {name: implement, prompt: x, next: review}\n- {name: review, agent: planner, prompt: x, end: true}\n"
    text = f"name: a\n{options}steps:\n{some}"
    assert workflows.findings(workflows.compiled(folder, text)) == []
    (folder / "first-note.scenarios.yaml").write_text(scenarios, encoding="utf-8")
    assert call("test", WORKFLOW, cwd=folder).code == 0


@pytest.mark.parametrize(
    "row", re.findall(r"^\| (`.*) \| (.*) \|$", WORKFLOWS[WORKFLOWS.index("| pattern |") :], re.MULTILINE)[:5]
)
def test_the_table_of_patterns_is_true(row: tuple[str, str], tmp_path: Path) -> None:
    is_named = "condition for GOOD" in row[0]
    words = [] if row[1].startswith("none") else [word.strip("` ") for word in row[1].split(", ")]
    conditions = ", conditions: [{keyword: GOOD, goto: one}]" if is_named else ""
    for pattern in re.findall(r"`([^`]+)`", row[0].replace("\\|", "|")):
        report = f"report: {{name: r, format: f, validation: '{pattern}'}}"
        text = f"- {{name: one, prompt: x, end: true, {report}{conditions}}}"
        assert workflows.steps(tmp_path, text).program
        step = Workflow.model_validate(read_mapping(f"name: a\nsteps:\n{text}").as_written).steps[0]
        assert [word for word in candidates(step) if word not in ("TASK_DONE", "GOOD")] == words


def test_the_first_playbook_runs_with_an_agent_and_without(folder: Path) -> None:
    check, with_agent, answer, resume, *_ = commands(PLAYBOOKS)
    assert call(*check, cwd=folder).code == 0
    for name in (WORKFLOW, PLAYBOOK):
        assert call("check", "--strict", name, cwd=folder).code == 0
        assert call("fmt", "--check", name, cwd=folder).code == 0
    run(folder, 75, *with_agent, llm=LAST_LINE)
    run(folder, 0, *answer)
    run(folder, 0, *resume, llm=LAST_LINE)
    assert (folder / ".rdc" / "release-note" / "release-note.md").read_text().strip() == "Search is faster"
    shutil.rmtree(folder / ".rdc")
    *_, start, answer, resume = commands(PLAYBOOKS)
    run(folder, 75, *start)
    run(folder, 0, *answer, given="New: faster search\n")
    assert "May the note name all of these?" in run(folder, 75, *resume)


def test_the_other_blocks_of_playbooks_are_read_without_findings() -> None:
    texts = [block.text for block in PLAYBOOK_BLOCKS if block.kind == "text" and not block.text.startswith("{")]
    inputs, branches, artifact = texts
    text = f"# A\n## INPUTS\n{inputs}- `tone` (string): T\n## STEP 1: A\nx\n## STEP 2: B\n{branches}{artifact}"
    made = read(Source.from_text("a.playbook.md", text))
    assert made.found == ()
    assert made.parsed
    assert len(made.parsed.playbook.inputs) == 4
    assert len(made.parsed.playbook.steps[1].branches) == 3


def test_the_lists_of_playbooks_are_those_of_the_code() -> None:
    assert [name for name in (*TYPES, *ARTIFACTS) if f"`{name}`" not in PLAYBOOKS] == []
    shown = re.findall(r"`(@\w+\([^`]*\))`", PLAYBOOKS.partition("## Branches")[0])
    known = patterns()
    assert {word.split("(")[0][1:].upper() for word in shown} == set(DIRECTIVES)
    assert [word for word in shown if not any(known[kind].fullmatch(word) for kind in DIRECTIVES)] == []


def rows(begin: str, end: str) -> list[str]:
    """Return the first cells of the tables in a part of the pages."""
    return re.findall(r"^\| `(\w+)` \|", SPECIFICATIONS.partition(begin)[2].partition(end)[0], re.MULTILINE)


def test_the_tables_of_specifications_have_every_key() -> None:
    assert rows("## Keys", "## Inputs") == [*Document.model_fields, *StepSpec.model_fields]
    assert rows("## Tools", "## Validation") == [*ToolCall.model_fields]
    assert sorted(rows("## Configuration", "## Failures")) == sorted(Runtime.model_fields)
    names = (*KEYS, *BUILT_IN, *Policy.model_fields, *ToolCommand.model_fields)
    assert [name for name in names if f"`{name}`" not in SPECIFICATIONS] == []


@pytest.mark.parametrize("name", ["config/runtime.yaml", "specs/config/runtime.yaml"])
def test_the_configuration_of_specifications_is_right(tmp_path: Path, name: str) -> None:
    (shown,) = re.findall(r"^~~~yaml\n(.*?)^~~~$", page("stepspec-runs.md"), re.MULTILINE | re.DOTALL)
    text = "step_specs: [{id: a, phase: Release, outputs: ['{output_folder}/x']}]"
    made = stepspec_documents.compiled(tmp_path, text, {name: shown}, "specs/main.stepspec.yaml")
    assert stepspec_documents.findings(made) == []
    assert made.program
    assert made.program.entry == "main:main:a:hitl"
