"""Playbooks as pictures: branches as they are written, who does what, and what they read and write."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from backends.picture.model import Picture, picture
from compiler.driver import compile_file
from compiler.ir.program import Program
from rdc.diff.compare import difference
from runtime_shim.targets.naming import split_name
from tests.conftest import ROOT


@cache
def example(name: str) -> Program:
    program = compile_file(str(ROOT / "examples" / "playbooks" / f"{name}.playbook.md")).program
    assert program
    return program


def said(drawn: Picture) -> set[str]:
    return {f"{arrow.source} {arrow.says} {arrow.target}" for arrow in drawn.arrows}


def program_of(tmp_path: Path, text: str) -> Program:
    (tmp_path / "a.playbook.md").write_text(text, encoding="utf-8")
    program = compile_file(str(tmp_path / "a.playbook.md")).program
    assert program
    return program


def test_branches_have_their_conditions_as_they_are_written() -> None:
    assert {
        '2 if kind == "bug" 2a',
        '2 elif kind == "feature" 2b',
        "2 otherwise 2/else",
    } < said(picture(example("issue-triage")))


def test_boxes_name_what_an_author_named(tmp_path: Path) -> None:
    drawn = picture(example("changelog-entry"))
    lines = {box.node.id: " ".join(box.lines) for box in drawn.boxes}
    assert lines["1"] == "1 Find what users notice agent reads product, commits writes changes"
    assert "output 1" not in lines["2"]
    assert "reads metric, days, numbers" in " ".join(picture(example("metrics-report")).boxes[1].lines)


def test_one_more_step_changes_no_other(tmp_path: Path) -> None:
    old = "# A\n\n## STEP 1: One\n\nDo one.\n\n## STEP 2: Two\n\nDo two.\n"
    new = "# A\n\n## STEP 1: New\n\nDo it.\n\n## STEP 2: One\n\nDo one.\n\n## STEP 3: Two\n\nDo two.\n"
    found = difference(picture(program_of(tmp_path, old)), picture(program_of(tmp_path, new)))
    assert [node.id for node in found.added] == ["1"]
    assert found.changed == ()
    changed = difference(
        picture(program_of(tmp_path, old)), picture(program_of(tmp_path, old.replace("Do two", "Do it")))
    )
    assert [(change.new.id, change.parts) for change in changed.changed] == [("2", ("prompt",))]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("2/else", ("2", "Title, else")),
        ("2/if", ("2", "Title, if")),
        ("2/elif1", ("2", "Title, elif")),
        ("2~2/elif12", ("2~2", "Title, elif 12")),
        ("2/elicit", ("2", "Title, question")),
        ("2/prompt", ("2", "Title, prompt")),
        ("2a", ("2a", "Title")),
        ("2/lint.runbook.md/1", ("2/lint.runbook.md/1", "Title")),
    ],
)
def test_what_has_no_name_of_its_own_is_called_by_the_step_it_belongs_to(name: str, shown: tuple[str, str]) -> None:
    assert split_name(name, "Title") == shown
    assert split_name(name, "") == (name, "")
