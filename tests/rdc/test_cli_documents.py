"""Agent workflows, step specifications and playbooks on the command line, and the texts that their agents get."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.cli import ROOT, Result, call, document, spawn

pytestmark = pytest.mark.process

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
PLAN = """step_specs:
  - id: write
    outputs: ["{output_folder}/notes.md"]
    retries: {max: 1}
  - id: publish
    phase: Release
"""
POLICY = "hitl: {policy: {required_phases: [Release]}}\n"
BOOK = """# Greet
## INPUTS
- `who` (string): whom
- `how` (enum: short, long): how
## STEP 1: Think
@prompt(file:prompts/think.md)
@output(idea)
## STEP 2: Write
```if how == "short"```
Write a word.
```else```
Write more.
```endif```
"""
FILES = {
    "rdc.toml": "",
    "a.workflow.yaml": SHIP,
    "a.stepspec.yaml": PLAN,
    "config/runtime.yaml": POLICY,
    "greet.playbook.md": BOOK,
    "prompts/think.md": "Think of {{who}}.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    return tmp_path


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        document(folder, name, text)


def test_findings_have_their_places(folder: Path) -> None:
    for name, right, wrong, place in (
        ("a.workflow.yaml", "next: review", "next: reviw", ("RD817", 5, 5, 16)),
        ("a.stepspec.yaml", "max", "mxa", ("RD853", 4, 15, 21)),
    ):
        write(folder, {name: FILES[name].replace(right, wrong)})
        found, *_ = json.loads(call("check", name, "--format", "json", cwd=folder).out)["diagnostics"]
        assert (found["code"], found["line"], found["column"], found["end_column"]) == place
    write(folder, {"a.stepspec.yaml": PLAN, "config/runtime.yaml": "max_retries: -1\n"})
    assert call("check", "a.stepspec.yaml", cwd=folder).exits(1).err.startswith("config/runtime.yaml:1:1: error[RD855]")


def test_a_folder_is_searched_and_named_formats_taken(folder: Path) -> None:
    for text, read_as, code in (("name: b\nsteps: []\n", "agent-workflow", "RD804"), ("[]\n", "stepspec", "RD854")):
        write(folder, {"b.yaml": text})
        assert call("check", ".", cwd=folder).code == 0
        assert call("check", "b.yaml", cwd=folder).code == 1
        assert f"[{code}]" in call("check", "b.yaml", "--from", read_as, cwd=folder).err
        assert read_as in call("check", "b.yaml", "--from", f"{read_as}s", cwd=folder).exits(2).err
    write(folder, {"new/PLAYBOOK.md": "# Hi\n\n## STEP 1: A\n\nDo.\n", "new/MYPLAYBOOK.md": "Text.\n"})
    assert call("check", "new", cwd=folder) == Result(0, "", "no problems in 1 file\n")
    write(folder, {"new/PLAYBOOK.md": "# No steps\n"})
    assert "RD704" in call("check", "new", cwd=folder).err
    assert "*.playbook.md or PLAYBOOK.md" in call("check", "prompts", cwd=folder).err


@pytest.mark.parametrize(("name", "part"), [("agent-workflow", "Flow"), ("program", ""), ("step-specs", "Document")])
def test_schemas_are_those_of_the_documentation(name: str, part: str, tmp_path: Path) -> None:
    printed = call("schema", name, cwd=tmp_path).out
    assert printed == (ROOT / "docs" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert name in call("schema", cwd=tmp_path).out
    assert name in call("schema", name[:-1], cwd=tmp_path).exits(2).err
    if part:
        parts = json.loads(printed)["$defs"].values()
        assert all("description" in value for part in parts for value in part["properties"].values())


def test_a_document_is_formatted(folder: Path) -> None:
    names, program = ("a.workflow.yaml", "a.stepspec.yaml"), '[ {"id":"a"} ]'
    write(folder, {name: FILES[name].replace("\n", " \n") for name in names} | {"b.stepspec.json": program})
    for name in names:
        assert call("fmt", "--check", name, cwd=folder).code == 1
    assert call("fmt", *names, "b.stepspec.json", cwd=folder).code == 0
    assert [(folder / name).read_text(encoding="utf-8") for name in names] == [FILES[name] for name in names]
    assert (folder / "b.stepspec.json").read_text(encoding="utf-8") == program


@pytest.mark.parametrize("heading", ["## Step 2: Security review", "## STEP two - Security review", "# step 2"])
def test_a_step_is_never_left_out(heading: str, tmp_path: Path) -> None:
    written = f"# Release\n\n## STEP 1: Build\n\nBuild it.\n\n{heading}\n\nLook.\n\n## STEP 2: Ship\n\nShip it.\n"
    path = tmp_path / "a.playbook.md"
    path.write_text(written, encoding="utf-8")
    for words in (["fmt"], ["compile", "--to", "python"], ["check"]):
        assert "a.playbook.md:7:1: error[RD713]" in call(*words, "a.playbook.md", cwd=tmp_path).exits(1).err
    assert path.read_text(encoding="utf-8") == written
    remedy = call("check", "a.playbook.md", cwd=tmp_path).err.split("help: write `")[1].split("`")[0]
    path.write_text(written.replace(heading, remedy).replace("## STEP 2: Ship", "## STEP 3: Ship"), encoding="utf-8")
    assert "error" not in call("check", "a.playbook.md", cwd=tmp_path).err


def test_traces_follow_conditions_attempts_and_branches_and_pictures_have_them(folder: Path) -> None:
    out = call("trace", "a.workflow.yaml", "--outcomes", "review=BAD,none", cwd=folder).out
    assert [line.split()[:2] for line in out.splitlines()] == [
        *(["write", "none"], ["review", "BAD"], ["write", "none"], ["review", "none"], ["=>", "COMPLETE"])
    ]
    assert "goto write" in out
    out = call("trace", "a.stepspec.yaml", "--outcomes", "write=fail,pass", cwd=folder).out
    assert [(line.split()[0], line.split()[-1]) for line in out.splitlines()[1:]] == [
        *(("write", "FAIL"), ("write", "PASS"), ("write/validation", "PASS"), ("write/outputs", "PASS")),
        *(("a:a:publish:hitl", "APPROVED"), ("publish", "PASS"), ("=>", "COMPLETE")),
    ]
    short = call("trace", "greet.playbook.md", "--input", "how=short", cwd=folder).out
    (first,) = (line.split() for line in short.splitlines() if line.startswith("1 "))
    assert first == ["1", "Think", "PASS", "if", "how", "==", '"short"']
    assert "2/if" in short
    assert "2/else" in call("trace", "greet.playbook.md", "--input", "how=long", cwd=folder).out
    assert "2 of 2 transitions taken" in call("trace", "greet.playbook.md", "--all", cwd=folder).out
    drawn = call("graph", "greet.playbook.md", "--format", "mermaid", "-o", "-", cwd=folder)
    assert (drawn.code, "if how is #34;short#34;" in drawn.out) == (0, True)


MORE = "\n## STEP 3: Three\n\nMore.\n\n## STEP 4: Four\n\nMost.\n"
KIND, BRIEF = (BOOK.replace("## INPUTS", f"## SYSTEM\n\nBe {how}.\n\n## INPUTS") + MORE for how in ("kind", "brief"))

OF_IF = ['> 2 Write: if how == "short": 2/if Write -> if how != "long": 2/if Write', "~ 2/if Write: prompt"]
OTHER_IF = BOOK.replace('how == "short"', 'how != "long"').replace("Write a word.", "Write one word.")
OTHER_WORD = ["> review: BAD · with its answer: write -> POOR · with its answer: write"]


@pytest.mark.parametrize(
    ("suffix", "old", "new", "lines"),
    [
        ("workflow.yaml", SHIP, SHIP.replace("BAD", "POOR"), OTHER_WORD),
        ("stepspec.yaml", PLAN, PLAN.replace("max: 1", "max: 3"), ["write"]),
        ("playbook.md", BOOK, OTHER_IF, OF_IF),
        ("playbook.md", KIND, BRIEF, ["~ 4 Four: prompt\n    -Be kind.\n    +Be brief.\n"]),
        ("playbook.md", KIND, KIND.replace("## STEP 3: Three\n\nMore.\n\n", ""), ["- 3 Three"]),
    ],
)
def test_versions_are_compared(suffix: str, old: str, new: str, lines: list[str], folder: Path) -> None:
    write(folder, {f"old.{suffix}": old, f"new.{suffix}": new})
    out = call("diff", f"old.{suffix}", f"new.{suffix}", cwd=folder).out
    assert [line for line in lines if line not in out] == [], out
    assert "~ 4" not in out or "Four" in lines[0], "outputs above prompts are no change"


ENTRIES = "parallel: [{agent: a, prompt: x}, {agent: b, prompt: y}]"
GATED = SHIP.replace("review\n    prompt: x", f"review\n    human: true\n    check: all\n    {ENTRIES}")
OF_WORKFLOW = """scenarios:
  good: {agents: {write: x, review_0: TASK_DONE, review_1: TASK_DONE}, answers: {review/human: approved},
         result: COMPLETE}
  rejected: {agents: {write: x}, answers: {review/human: rejected}, result: STOP}
  one is missing: {agents: {write: x, review_0: TASK_DONE}, answers: {review/human: approved}, result: COMPLETE}
  unknown: {agents: {review: x}, result: COMPLETE}
"""
OF_SPECIFICATION = """scenarios:
  good: {inputs: {output_folder: x}, answers: {"a:a:publish:hitl": approved}, result: COMPLETE}
  again: {inputs: {output_folder: x}, answers: {write: [fail, fail]}, result: STOP}
  nobody approves: {inputs: {output_folder: x}, result: COMPLETE}
  unknown: {inputs: {output_folder: x}, answers: {writ: fail}, result: COMPLETE}
"""


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.workflow.yaml", GATED + OF_WORKFLOW, "step review calls its agents, but the scenario has no answer for it"),
        ("a.stepspec.yaml", PLAN + OF_SPECIFICATION, "the run waits at step a:a:publish:hitl"),
    ],
)
def test_scenarios_are_tested(name: str, text: str, problem: str, folder: Path) -> None:
    write(folder, {name: text})
    tested = call("test", name, cwd=folder)
    assert (tested.code, problem in tested.out) == (1, True)
    lines = [line.split()[0] for line in tested.out.splitlines() if line[:1].isupper()]
    assert lines == ["PASSED", "PASSED", "FAILED", "FAILED"]
    assert ("`review_0`, `review_1`" in call("check", name, cwd=folder).err) == (name == "a.workflow.yaml")


def test_a_playbook_without_scenarios_is_named(folder: Path) -> None:
    assert call("test", "greet.playbook.md", cwd=folder).err == "greet.playbook.md has no scenarios\n"
    scenario = "a:\n  inputs: {who: you, how: long}\n  agents: {1: x, 2/else: y}\n  result: COMPLETE\n"
    write(folder, {"greet.scenarios.yaml": scenario})
    assert "2 passed" in call("test", "greet.playbook.md", "--on", "python", cwd=folder).exits(0).out


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "specifications").glob("*.stepspec.*")), ids=str)
def test_the_examples_of_specifications_are_right(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    assert "warning" not in call("check", name, cwd=ROOT).exits(0).err
    tested = call("test", name, cwd=ROOT)
    assert (tested.code, "passed" in tested.out + tested.err) == (0, True), tested.out + tested.err


@pytest.mark.parametrize(
    ("name", "other", "text"),
    [
        ("greet.playbook.md", "prompts/think.md", "Think again.\n"),
        ("a.stepspec.yaml", "config/runtime.yaml", f"# A remark.\n{POLICY}"),
    ],
)
def test_what_is_generated_is_stale_when_another_file_changes(name: str, other: str, text: str, folder: Path) -> None:
    words = ("compile", name, "--to", "python", "-o", "a.py")
    assert call(*words, cwd=folder).code == 0
    assert call(*words, "--check", cwd=folder).code == 0
    write(folder, {other: text})
    assert "RD512" in call(*words, "--check", cwd=folder).exits(1).err


def test_placeholders_are_given_when_compiling_and_running(folder: Path) -> None:
    words = ("compile", "a.stepspec.yaml", "--to", "dot", "-o", "-", "--var", "output_folder=site=1")
    assert "default site=1" in call(*words, cwd=folder).out
    assert "NAME=VALUE" in call("check", "a.stepspec.yaml", "--var", "output_folder", cwd=folder).err
    given = ("--var", "output_folder=out", "a.stepspec.yaml", "--executor", "mkdir -p out; touch out/notes.md")
    assert "rdc run --var output_folder=out a.stepspec.yaml resume" in spawn("run", *given, cwd=folder).exits(75).err


def test_a_compiled_playbook_finds_the_type_of_its_file_though_nothing_else_is_filled_in(folder: Path) -> None:
    book = "# Draw\n\n## INPUTS\n\n- `kind` (string): which\n\n## STEP 1: Go\n\nDraw.\n\n## ARTIFACTS\n\n"
    write(folder, {"draw.playbook.md": f"{book}type: {{{{kind}}}}\n"})
    assert call("compile", "draw.playbook.md", "--to", "python", "-o", "draw.py", cwd=folder).code == 0
    words = [sys.executable, "draw.py", "run", "--agent", "echo x", "--input", "kind=mermaid"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    assert (folder / ".rdc" / "draw" / "draw.mmd").read_text(encoding="utf-8") == "x"


LABELS = """# Label
## INPUTS
- `issue` (text): The issue
## STEP 1: Classify
Classify: {{issue}}
@output(kind: enum, "bug", "feature")
## STEP 2: Rate
Rate it.
@output(level: enum, "low", "high", extract:"level")
## STEP 3: Ask
@elicit(input, "Which?")
@output(which, "a", "b")
"""
NONE_OF, NO_FIELD = "the answer is not one of", "the answer has no JSON object with the field level"


@pytest.mark.parametrize(
    ("answer", "reply", "remarks"),
    [
        ("bug", "a", [None, [f"{NO_FIELD}, so the whole answer is kept"], None]),
        ('{"level": "high"}', "b", [[f"{NONE_OF} bug, feature"], None, None]),
        ('{"level": "highest"}', "A", [[f"{NONE_OF} bug, feature"], [f"{NONE_OF} low, high"], [f"{NONE_OF} a, b"]]),
    ],
)
def test_an_unexpected_answer_is_shown(answer: str, reply: str, remarks: list[list[str] | None], folder: Path) -> None:
    write(folder, {"label.playbook.md": LABELS, "answers": f"3 {reply}\n"})
    words = ("label.playbook.md", "--agent", f"echo '{answer}'", "--input", "issue=", "--answers", "answers")
    log = spawn("run", *words, cwd=folder).exits(0)
    status = spawn("run", "label.playbook.md", "status", cwd=folder)
    report = spawn("run", "label.playbook.md", "status", "--json", cwd=folder)
    assert [one.get("remarks") for one in json.loads(report.out)["finished"]] == remarks
    for remark in (one for found in remarks for one in found or ()):
        assert f"    {remark}\n" in log.err
        assert f"        {remark}\n" in status.out
    assert (log.err + status.out).count("the answer ") == 2 * sum(map(bool, remarks))


def definition(text: str, folder: Path) -> Any:
    """The document as other tools read it."""
    (folder / "a.playbook.md").write_text(text, encoding="utf-8")
    return json.loads(call("check", "--format", "json", "a.playbook.md", cwd=folder).out)["playbook"]["definition"]


BODIES = {
    "one directive": ("Above.\n\n@output(a)\n\nBelow.", "Above.\n\nBelow."),
    "two directives": ("Above.\n\n@output(a)\n@prompt(library:x)\n\nBelow.", "Above.\n\nBelow."),
    "two with a space line": ("Above.\n\n@output(a)\n\n@prompt(library:x)\n\nBelow.", "Above.\n\nBelow."),
    "more blank lines": ("Above.\n\n\n@output(a)\n\n\nBelow.", "Above.\n\nBelow."),
    "spaces in blank lines": ("Above.\n  \n@output(a)\n\t\nBelow.", "Above.\n\nBelow."),
    "a blank line on one side": ("Above.\n@output(a)\n\nBelow.", "Above.\n\nBelow."),
    "no blank line": ("Above.\n@output(a)\nBelow.", "Above.\nBelow."),
    "blank lines of the author": ("Above.\n\n\nMiddle.\n\n@output(a)\n\nBelow.", "Above.\n\n\nMiddle.\n\nBelow."),
    "at the ends": ("@prompt(library:x)\n\nText.\n\n@output(a)", "Text."),
    "around branches": ('Above.\n\n```if a == "b"```\nInside.\n```endif```\n\nBelow.', "Above.\n\nBelow."),
}


@pytest.mark.parametrize("case", BODIES)
def test_blank_lines_around_a_removed_directive_become_one(case: str, tmp_path: Path) -> None:
    body, content = BODIES[case]
    assert definition(f"# A\n\n## STEP 1: B\n\n{body}\n", tmp_path)["steps"][0]["content"] == content
    assert call("fmt", "a.playbook.md", cwd=tmp_path).code in (0, 1)
    formatted = (tmp_path / "a.playbook.md").read_text(encoding="utf-8")
    assert definition(formatted, tmp_path)["steps"][0]["content"] == content


FLAGGED = """# A
## INPUTS
- `short` (boolean: false): Whether it is short
- `loud` (bool): Whether it is loud
## STEP 1: Write
```if short```
One word.
```elif loud ```
IN CAPITALS.
```else```
As you like.
```endif```
"""


@pytest.mark.parametrize("later", [False, True])
def test_a_branch_on_a_boolean_input_runs_where_it_is_true(later: bool, tmp_path: Path) -> None:
    head, inputs, steps = FLAGGED.partition("## INPUTS")[0], *FLAGGED.partition("## INPUTS")[2].split("## STEP", 1)
    text = f"{head}## STEP{steps}\n## INPUTS{inputs}" if later else FLAGGED
    (tmp_path / "a.playbook.md").write_text(text, encoding="utf-8")
    made = call("compile", "a.playbook.md", "--to", "python", "-o", "a.py", cwd=tmp_path).exits(0)
    assert made.err.count("note[RD731]") == 2
    texts = {"One word.": "short=true loud=true", "IN CAPITALS.": "short=false loud=true", "As you like.": "loud=false"}
    for output, values in texts.items():
        given = [word for value in values.split() for word in ("--input", value)]
        done = warm.run([sys.executable, "a.py", "run", "--as", output[0], "--agent", "cat", *given], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        prompts = "".join(path.read_text() for path in tmp_path.glob(f".rdc/*@{output[0]}/**/prompts/*"))
        assert [one for one in texts if one in prompts] == [output]


def test_the_note_shows_what_it_means_strict_accepts_it_and_fmt_keeps_it(tmp_path: Path) -> None:
    branches = definition(FLAGGED, tmp_path)["steps"][0]["branches"]
    assert [(one["condition"] or {}).get("value") for one in branches] == ["true", "true", None]
    result = call("check", "--strict", "a.playbook.md", cwd=tmp_path)
    assert (result.code, 'short == "true"' in result.err + result.out) == (0, True)
    call("fmt", "a.playbook.md", cwd=tmp_path)
    formatted = (tmp_path / "a.playbook.md").read_text()
    assert "```if short```" in formatted
    assert "```elif loud```" in formatted
    assert call("fmt", "--check", "a.playbook.md", cwd=tmp_path).code == 0


@pytest.mark.parametrize("name", ["tone", "unknown", "result"])
def test_a_name_that_is_no_boolean_input_is_no_condition(name: str, tmp_path: Path) -> None:
    text = FLAGGED.replace("(bool)", "(string: x)").replace("loud", "tone").replace("if short", f"if {name}")
    (tmp_path / "a.playbook.md").write_text(text.replace("## STEP", "@output(result)\n\n## STEP"), encoding="utf-8")
    assert f'write ```if {name} == "text"```' in call("check", "a.playbook.md", cwd=tmp_path).exits(1).err
