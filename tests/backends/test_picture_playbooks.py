"""Playbooks as pictures: branches as they are written, who does what, and what flows between them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from backends.picture.arrows import streams
from backends.picture.difference import difference
from backends.picture.picture import Picture, picture
from backends.registry import load
from compiler.driver import compile_file
from compiler.ir.program import Program
from runtime_shim.targets.naming import split_name
from tests.conftest import ROOT


@cache
def example(name: str) -> Program:
    program = compile_file(str(ROOT / "examples" / "playbooks" / f"{name}.playbook.md")).program
    assert program
    return program


def said(drawn: Picture) -> set[str]:
    return {f"{arrow.source} {arrow.says} {arrow.target}" for arrow in drawn.arrows}


def flows(program: Program) -> list[str]:
    return [f"{item.source} {', '.join(item.names)} {item.target}" for item in streams(program)]


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


def test_what_flows_leads_from_where_it_is_kept_to_where_it_is_named() -> None:
    assert flows(example("issue-triage")) == ["1 kind 2"]
    assert flows(example("newsletter")) == ["1 topics 4", "2 tone 4", "3 has_dates 4/route"]
    assert flows(example("support-reply")) == ["1 mood 3", "2a draft 3", "2b draft 3", "2c draft 3"]
    assert flows(example("metrics-report")) == ["1 numbers 2"]


def test_what_is_kept_again_flows_no_further(tmp_path: Path) -> None:
    one, two, three = (f"## STEP {n}: S\n\nSay {{{{x}}}}.\n\n@output(x)\n\n" for n in (1, 2, 3))
    assert flows(program_of(tmp_path, f"# A\n\n{one}{two}{three}")) == ["1 x 2", "2 x 3"]


def test_boxes_name_what_an_author_named(tmp_path: Path) -> None:
    drawn = picture(example("changelog-entry"))
    lines = {box.node.id: " ".join(box.lines) for box in drawn.boxes}
    assert lines["1"] == "1 Find what users notice agent reads product, commits writes changes"
    assert "output 1" not in lines["2"]


def test_what_flows_is_drawn_faintly() -> None:
    program = example("metrics-report")
    dot, mermaid = (load(name).emit(program, {}).text or "" for name in ("dot", "mermaid"))
    line, sample = (line for line in dot.splitlines() if "class=data" in line)
    assert sample.startswith('  "legend agent"')
    assert line.startswith('  "1" -> "2" [')
    assert "constraint=false" in line
    assert "style=dotted" in line
    arrows = [line for line in mermaid.splitlines() if "-->" in line or "-.->" in line]
    assert arrows[-2] == '  n1 -.->|"numbers"| n2'
    assert f"linkStyle {len(arrows) - 2},{len(arrows) - 1} stroke:#848d97,stroke-width:1px" in mermaid


@pytest.mark.parametrize("name", ["database-failover", "update-hosts"])
def test_values_of_commands_are_no_data_that_flows(name: str) -> None:
    program = compile_file(str(ROOT / "examples" / f"{name}.runbook.md")).program
    assert program
    assert program.slots
    assert flows(program) == []


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
