"""Playbooks on the command line: what is stale, traced, compared and tried."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import call

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "think.md").write_text("Think of {{who}}.\n", encoding="utf-8")
    (tmp_path / "greet.playbook.md").write_text(BOOK, encoding="utf-8")
    return tmp_path


def test_what_is_generated_is_stale_when_the_file_of_a_prompt_changes(folder: Path) -> None:
    words = ("compile", "greet.playbook.md", "--to", "python", "-o", "greet.py")
    assert call(*words, cwd=folder).code == 0
    assert call(*words, "--check", cwd=folder).code == 0
    (folder / "prompts" / "think.md").write_text("Think again.\n", encoding="utf-8")
    stale = call(*words, "--check", cwd=folder)
    assert stale.code == 1
    assert "RD512" in stale.err


def test_a_trace_shows_the_branches_by_their_conditions(folder: Path) -> None:
    short = call("trace", "greet.playbook.md", "--input", "how=short", cwd=folder).out
    assert [line.split() for line in short.splitlines() if line.startswith("1 ")] == [
        ["1", "Think", "PASS", "if", "how", "==", '"short"']
    ]
    assert "2/if" in short
    assert "2/else" in call("trace", "greet.playbook.md", "--input", "how=long", cwd=folder).out
    assert "2 of 2 transitions taken" in call("trace", "greet.playbook.md", "--all", cwd=folder).out


def test_a_compiled_playbook_finds_the_type_of_its_file_though_nothing_else_is_filled_in(folder: Path) -> None:
    book = (
        "# Draw\n\n## INPUTS\n\n- `kind` (string): which\n\n## STEP 1: Go\n\nDraw.\n\n## ARTIFACTS\n\ntype: {{kind}}\n"
    )
    (folder / "draw.playbook.md").write_text(book, encoding="utf-8")
    assert call("compile", "draw.playbook.md", "--to", "python", "-o", "draw.py", cwd=folder).code == 0
    words = [sys.executable, "draw.py", "run", "--agent", "echo x", "--input", "kind=mermaid"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    assert (folder / ".rdc" / "draw" / "draw.mmd").read_text(encoding="utf-8") == "x"


def test_a_folder_is_searched_for_the_file_that_is_called_like_the_format(folder: Path) -> None:
    (folder / "PLAYBOOK.md").write_text("# Hi\n\n## STEP 1: A\n\nDo.\n", encoding="utf-8")
    (folder / "MYPLAYBOOK.md").write_text("Text.\n", encoding="utf-8")
    checked = call("check", ".", cwd=folder)
    assert (checked.code, checked.out + checked.err) == (0, "no problems in 2 files\n")
    (folder / "PLAYBOOK.md").write_text("# No steps\n", encoding="utf-8")
    assert "RD704" in call("check", ".", cwd=folder).err + call("check", ".", cwd=folder).out
    empty = folder / "empty"
    empty.mkdir()
    assert "*.playbook.md or PLAYBOOK.md" in call("check", "empty", cwd=folder).err


def test_a_comparison_names_steps_and_conditions(folder: Path) -> None:
    other = BOOK.replace('how == "short"', 'how != "long"').replace("Write a word.", "Write one word.")
    (folder / "other.playbook.md").write_text(other, encoding="utf-8")
    said = call("diff", "greet.playbook.md", "other.playbook.md", cwd=folder).out
    assert '> 2 Write: if how == "short": 2/if Write -> if how != "long": 2/if Write' in said
    assert "~ 2/if Write: prompt" in said


def test_a_comparison_tells_of_the_system_text_and_not_of_outputs_above_prompts(folder: Path) -> None:
    steps = "\n## STEP 3: Three\n\nMore.\n\n## STEP 4: Four\n\nMost.\n"
    for name, system in (("a", "Be kind."), ("b", "Be brief.")):
        text = BOOK.replace("## INPUTS", f"## SYSTEM\n\n{system}\n\n## INPUTS") + steps
        (folder / f"{name}.playbook.md").write_text(text, encoding="utf-8")
    said = call("diff", "a.playbook.md", "b.playbook.md", cwd=folder).out
    assert "~ 4 Four: prompt\n    -Be kind.\n    +Be brief.\n" in said
    less = (folder / "a.playbook.md").read_text(encoding="utf-8").replace("## STEP 3: Three\n\nMore.\n\n", "")
    (folder / "b.playbook.md").write_text(less, encoding="utf-8")
    said = call("diff", "a.playbook.md", "b.playbook.md", cwd=folder).out
    assert "- 3 Three" in said
    assert "~ 4" not in said


def test_a_picture_is_drawn(folder: Path) -> None:
    drawn = call("graph", "greet.playbook.md", "--format", "mermaid", "-o", "-", cwd=folder)
    assert drawn.code == 0
    assert "if how is #34;short#34;" in drawn.out


def test_a_playbook_without_scenarios_says_so(folder: Path) -> None:
    result = call("test", "greet.playbook.md", cwd=folder)
    assert (result.code, result.err) == (0, "greet.playbook.md has no scenarios\n")
    scenario = "a:\n  inputs: {who: you, how: long}\n  agents: {1: x, 2/else: y}\n  result: COMPLETE\n"
    (folder / "greet.scenarios.yaml").write_text(scenario, encoding="utf-8")
    result = call("test", "greet.playbook.md", "--on", "python", cwd=folder)
    assert result.code == 0, result.out
    assert "2 passed" in result.out


@pytest.mark.parametrize("heading", ["## Step 2: Security review", "## STEP two - Security review", "# step 2"])
def test_a_step_is_never_left_out(heading: str, tmp_path: Path) -> None:
    written = (
        f"# Release\n\n## STEP 1: Build\n\nBuild it.\n\n{heading}\n\nLook for leaks.\n\n## STEP 2: Ship\n\nShip it.\n"
    )
    (tmp_path / "a.playbook.md").write_text(written, encoding="utf-8")
    for words in (["check", "a.playbook.md"], ["fmt", "a.playbook.md"], ["compile", "a.playbook.md", "--to", "python"]):
        result = call(*words, cwd=tmp_path)
        assert result.code == 1
        assert "a.playbook.md:7:1: error[RD713]" in result.err
    assert (tmp_path / "a.playbook.md").read_text(encoding="utf-8") == written
    result = call("check", "a.playbook.md", cwd=tmp_path)
    remedy = result.err.split("help: write `")[1].split("`")[0]
    fixed = written.replace(heading, remedy).replace("## STEP 2: Ship", "## STEP 3: Ship")
    (tmp_path / "a.playbook.md").write_text(fixed, encoding="utf-8")
    assert "error" not in call("check", "a.playbook.md", cwd=tmp_path).err


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
def test_an_unexpected_answer_is_shown_and_goes_on(
    answer: str, reply: str, remarks: list[list[str] | None], folder: Path
) -> None:
    (folder / "label.playbook.md").write_text(LABELS, encoding="utf-8")
    (folder / "answers").write_text(f"3 {reply}\n", encoding="utf-8")
    assert call("compile", "label.playbook.md", "--to", "python", "-o", "label.py", cwd=folder).code == 0
    words = [sys.executable, "label.py"]
    given = ["--agent", f"echo '{answer}'", "--input", "issue=", "--answers", "answers"]
    log = subprocess.run([*words, "run", *given], cwd=folder, capture_output=True, check=True, text=True)
    status = subprocess.run([*words, "status"], cwd=folder, capture_output=True, check=True, text=True)
    report = subprocess.run([*words, "status", "--json"], cwd=folder, capture_output=True, check=True, text=True)
    assert [one.get("remarks") for one in json.loads(report.stdout)["finished"]] == remarks
    for remark in (one for found in remarks for one in found or ()):
        assert f"    {remark}\n" in log.stderr
        assert f"        {remark}\n" in status.stdout
    assert (log.stderr + status.stdout).count("the answer ") == 2 * sum(map(bool, remarks))
