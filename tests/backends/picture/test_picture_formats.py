"""Pictures of each format, and their legend: a sample of each shape, color and line in use, and of no other."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from backends.picture.looks import class_of, with_legend
from backends.picture.model import Picture, picture
from backends.registry import load
from compiler.driver import compile_file
from compiler.ir.program import Program
from rdc.diff.difference import difference
from runtime_shim.targets.naming import split_name
from tests.conftest import ROOT
from tests.support.pictures import drawn
from tests.support.sample_programs import every_kind


def example(name: str) -> Program:
    found = compile_file(str(ROOT / "examples" / name)).program
    assert found
    return found


def legend(shown: Picture) -> tuple[list[str], list[str]]:
    """The boxes and arrows of the legend, which are those after the picture's own."""
    whole = with_legend(shown)
    boxes, arrows = whole.boxes[len(shown.boxes) :], whole.arrows[len(shown.arrows) :]
    assert {box.frame for box in boxes} == {"legend"}
    return [" ".join(box.lines) for box in boxes], [
        f"{arrow.leads} {' '.join(arrow.lines)}".strip() for arrow in arrows
    ]


def test_only_what_is_in_use_is_explained(tmp_path: Path) -> None:
    boxes, arrows = legend(drawn(tmp_path, "## 1. A\n\n```sh\ntrue\n```\n\n- PASS: COMPLETE\n- FAIL: COMPLETE\n"))
    assert (boxes, arrows) == (["a command", "COMPLETE the run succeeded"], ["complete"])
    boxes, arrows = legend(drawn(tmp_path, "## 1. Good?\n- YES: COMPLETE\n- NO: RETRY 2 STOP\n"))
    assert boxes == ["a person decides", "COMPLETE the run succeeded", "STOP the run ended early"]
    assert arrows == ["back ↻ again, or back", "complete", "stop"]


def test_every_kind_of_step_has_one_sample() -> None:
    boxes, _ = legend(picture(every_kind()))
    assert boxes[:5] == ["a command", "an AI agent works", "a tool is used", "a person decides", "a choice"]


def test_ends_of_nested_runbooks_lead_to_those_of_the_run() -> None:
    boxes, arrows = legend(picture(example("release.runbook.md")))
    assert boxes[1:] == [
        "COMPLETE this part succeeded",
        "STOP this part ended early",
        "COMPLETE the run succeeded",
        "STOP the run ended early",
    ]
    assert arrows == ["back ↻ again, or back", "complete", "stop", "complete", "stop"]


def test_answers_that_go_along_are_explained() -> None:
    _, arrows = legend(picture(example("workflows/dependency-update.workflow.yaml")))
    assert arrows[0] == "onward passes its answer on"


@pytest.mark.parametrize("target", ["dot", "mermaid"])
def test_a_legend_can_be_left_out(target: str) -> None:
    shown, without = (load(target).emit(every_kind(), {"legend": value}).text or "" for value in (True, False))
    assert ("Legend" in shown, "Legend" in without) == (True, False)


def test_a_sample_looks_like_its_boxes() -> None:
    shown = picture(example("release.runbook.md"))
    assert {class_of(box) for box in with_legend(shown).boxes} == {class_of(box) for box in shown.boxes}


# --- Agent workflows: keywords on arrows, entries, gates, answers that go along (W11) ---------------------------------


SHIP = """
name: ship
steps:
  - name: write
    prompt: x
    report: {name: w, format: f, validation: DONE}
    next: review
  - name: review
    parallel: [{agent: security, prompt: x}, {agent: "a|b {c}", prompt: y}]
    check: all
    conditions: [{keyword: GOOD, goto: last}, {keyword: BAD, goto: write}]
  - name: last
    human: true
    prompt: x
    end: true
"""


def shipping(tmp_path: Path) -> Program:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "a.workflow.yaml").write_text(SHIP, encoding="utf-8")
    found = compile_file(str(tmp_path / "a.workflow.yaml")).program
    assert found
    return found


def arrows(drawn: Picture) -> set[str]:
    return {f"{one.source} {'=' if one.passes else '-'}{one.says}-> {one.target}" for one in drawn.arrows}


def test_arrows_say_the_verdict_and_whether_the_answer_goes_along(tmp_path: Path) -> None:
    found = arrows(picture(shipping(tmp_path)))
    assert "review =BAD · with its answer-> write" in found
    assert "review =GOOD · with its answer-> last/human" in found
    assert "last/human -APPROVED-> last" in found
    assert {one for one in found if one.endswith("-> review")} == {"write -none, ambiguous-> review"}


def test_what_breaks_down_behind_a_step_has_one_box(tmp_path: Path) -> None:
    found = arrows(picture(shipping(tmp_path)))
    assert "write -failed, invalid-> write/failed" in found
    assert "review -failed, ambiguous, none, invalid-> review/failed" in found
    labels = {" ".join(one.lines) for one in picture(shipping(tmp_path)).arrows if one.target == "review/failed"}
    assert labels == {"no clear answer"}
    assert not any("unrouted" in one for one in found)


def test_targets_show_both(tmp_path: Path) -> None:
    shown = shipping(tmp_path)
    dot, mermaid = (load(name).emit(shown, {}).text or "" for name in ("dot", "mermaid"))
    assert "agents security, a|b\\n{c}: all must agree" in dot
    assert dot.count("arrowtail=dot") == 3, "one of them is in the legend"
    assert "a person approves last" in dot
    assert mermaid.count("==>") == 3
    assert "agents security, a#124;b" in mermaid


def test_examples_are_drawn() -> None:
    for path in sorted((ROOT / "examples" / "workflows").glob("*.workflow.yaml")):
        found = compile_file(str(path)).program
        assert found
        assert all(box.is_reached for box in picture(found).boxes)


# --- Playbooks: branches as they are written, who does what, what they read and write ---------------------------------


@cache
def playbook(name: str) -> Program:
    program = compile_file(str(ROOT / "examples" / "playbooks" / f"{name}.playbook.md")).program
    assert program
    return program


def branches(drawn: Picture) -> set[str]:
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
    } < branches(picture(playbook("issue-triage")))


def test_boxes_name_what_an_author_named(tmp_path: Path) -> None:
    drawn = picture(playbook("changelog-entry"))
    lines = {box.node.id: " ".join(box.lines) for box in drawn.boxes}
    assert lines["1"] == "1 Find what users notice agent reads product, commits writes changes"
    assert "output 1" not in lines["2"]
    assert "reads metric, days, numbers" in " ".join(picture(playbook("metrics-report")).boxes[1].lines)


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
