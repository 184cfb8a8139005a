"""The legend: a sample of each shape, color and line in use, and of no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.picture.looks import class_of, with_legend
from backends.picture.model import Picture, picture
from backends.registry import load
from compiler.driver import compile_file
from compiler.ir.program import Program
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
