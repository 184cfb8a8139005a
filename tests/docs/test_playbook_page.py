"""The page about playbooks is true: its first playbook can be pasted and run, its lists agree with the code."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from compiler.frontends.playbook.check.rules import ARTIFACTS, read
from compiler.frontends.playbook.parse.lines import DIRECTIVES, TYPES, patterns
from compiler.text.source import Source
from tests.conftest import ROOT
from tests.support.cli import call, spawn
from tests.support.pages import blocks

PAGE = (ROOT / "docs" / "formats" / "playbook.md").read_text(encoding="utf-8")
BLOCKS = blocks("docs/formats/playbook.md")
NAME = "release-note.playbook.md"

# It answers with the last line of its prompt that is not blank.
LLM = "#!/bin/sh\nsed -n '/./h; ${x;p;}'\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the first playbook of the page."""
    (tmp_path / "rdc.toml").touch()
    first = next(block.text for block in BLOCKS if block.kind == "markdown")
    (tmp_path / NAME).write_text(first, encoding="utf-8")
    return tmp_path


def commands() -> list[list[str]]:
    """The commands that the page shows, as words after `rdc`."""
    return [shlex.split(line.partition(" < ")[0]) for line in re.findall(r"^\$ rdc (.*)$", PAGE, re.MULTILINE)]


def run(folder: Path, *words: str, given: str = "", path: str = "") -> tuple[int, str]:
    own = os.environ["PATH"]
    done = spawn(*words, cwd=folder, given=given, PATH=f"{path}{os.pathsep}{own}" if path else own)
    return done.code, done.out + done.err


def test_the_first_playbook_is_in_its_normal_form(folder: Path) -> None:
    assert call("check", "--strict", NAME, cwd=folder).code == 0
    assert call("fmt", "--check", NAME, cwd=folder).code == 0


def test_the_first_playbook_runs_with_an_agent(folder: Path) -> None:
    check, with_agent, answer, resume, *_ = commands()
    (folder / "bin").mkdir()
    (folder / "bin" / "llm").write_text(LLM)
    (folder / "bin" / "llm").chmod(0o755)
    assert call(*check, cwd=folder).code == 0
    code, said = run(folder, *with_agent, path=str(folder / "bin"))
    assert code == 75, said
    assert run(folder, *answer)[0] == 0
    code, said = run(folder, *resume, path=str(folder / "bin"))
    assert code == 0, said
    assert (folder / ".rdc" / "release-note" / "release-note.md").read_text().strip() == "Search is faster"


def test_the_first_playbook_runs_without_an_agent(folder: Path) -> None:
    *_, start, answer, resume = commands()
    assert run(folder, *start)[0] == 75
    assert run(folder, *answer, given="New: faster search\n")[0] == 0
    code, said = run(folder, *resume)
    assert code == 75, said
    assert "May the note name all of these?" in said


def test_the_other_blocks_are_read_without_findings() -> None:
    parts = [block.text for block in BLOCKS if block.kind == "text" and not block.text.startswith("{")]
    assert len(parts) == 3
    inputs, branches, artifact = parts
    text = f"# A\n## INPUTS\n{inputs}- `tone` (string): T\n## STEP 1: A\nx\n## STEP 2: B\n{branches}{artifact}"
    made = read(Source.from_text("a.playbook.md", text))
    assert made.found == ()
    assert made.parsed
    assert len(made.parsed.playbook.inputs) == 4
    assert len(made.parsed.playbook.steps[1].branches) == 3


def test_its_lists_are_those_of_the_code() -> None:
    for name in (*TYPES, *ARTIFACTS):
        assert f"`{name}`" in PAGE, name
    shown = re.findall(r"`(@\w+\([^`]*\))`", PAGE.partition("## Branches")[0])
    known = patterns()
    assert {word.split("(")[0][1:].upper() for word in shown} == set(DIRECTIVES)
    for word in shown:
        assert any(known[kind].fullmatch(word) for kind in DIRECTIVES), word
