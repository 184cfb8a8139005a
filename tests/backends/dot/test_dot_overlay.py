"""Two versions in one graph: the real Graphviz draws all of it, and marks are told by more than color."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from backends.dot.graph import Graph, spread_ends
from backends.picture.looks import stylesheet
from backends.picture.model import Picture, picture
from compiler.ir.program import Program
from compiler.ir.tasks import End, Shell
from compiler.ir.texts import text
from tests.backends.dot.test_dot import assert_same
from tests.differential.generate.rundown import Drawn
from tests.support.graphviz import Seen, drawn
from tests.support.pictures import both, of_case, pairs
from tests.support.sample_programs import FAIL, PASS, hostile_programs, node, program, to, unverified


def graph(shown: Picture) -> Seen:
    return drawn("\n".join(Graph(spread_ends(shown), "a", ("old → new", "+ added")).lines()))


@pytest.mark.share(2)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(pair=pairs)
def test_graphviz_draws_both_versions(pair: tuple[Drawn, Drawn]) -> None:
    shown = both(*map(of_case, pair))
    assert_same(graph(shown), spread_ends(shown))


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(old=hostile_programs(), new=hostile_programs())
@unverified()
def test_no_text_leaves_its_label(old: Program, new: Program) -> None:
    shown = both(picture(old), picture(new))
    assert_same(graph(shown), spread_ends(shown))


def steps(*commands: str) -> Program:
    """Steps, each with a way to an end that says nothing."""
    nodes = [
        node(str(number), Shell("sh", text(what)), to(str(number + 1), PASS), to("S", FAIL), title=f"Do {what}")
        for number, what in enumerate(commands, 1)
    ]
    return program(*nodes, node(str(len(commands) + 1), End("complete")), node("S", End("stop")))


def test_marks_are_told_by_line_and_words() -> None:
    seen = graph(both(picture(steps("a", "b", "c")), picture(steps("a", "d", "c"))))
    boxes = {box.label: box for box in seen.boxes}
    added, removed = boxes["2 Do d + added"], boxes["2 Do b − removed"]
    assert (added.classes, removed.classes) == (["added"], ["removed"])
    assert added.shapes[0].get("stroke-width") == "3.5"
    assert removed.shapes[0].get("stroke-dasharray")
    arrows = {arrow.label: arrow for arrow in seen.arrows}
    assert (arrows["+ worked"].classes, arrows["− worked"].classes) == (["added"], ["removed"])
    assert arrows["− worked"].shapes[0].get("stroke-dasharray") != arrows["failed"].shapes[0].get("stroke-dasharray")


def test_ends_beside_steps_came_and_went_with_them() -> None:
    spread = spread_ends(both(picture(steps("a", "b", "c")), picture(steps("a", "d", "c"))))
    assert {box.node.id: box.mark for box in spread.boxes if " → " in box.node.id} == {
        "1 → S": "",
        "2 → S": "added",
        "3 → S": "",
        "old 2 → S": "removed",
    }


def test_there_is_no_link_to_what_is_gone() -> None:
    shown = both(picture(steps("a", "b")), picture(steps("a")))
    found = drawn("\n".join(Graph(shown, "a", link_base="https://example.org/").lines()))
    assert {box.label for box in found.boxes if not box.link} == {"Start", "2 Do b − removed"}


def test_marks_adapt_to_dark_pages() -> None:
    css, kinds = stylesheet("dark"), ("node", "cluster", "edge")
    assert all(f".{kind}.{mark} " in css for kind in kinds for mark in ("added", "removed", "changed"))


def test_what_is_not_marked_is_as_ever() -> None:
    shown = picture(steps("a", "b"))
    assert list(Graph(both(shown, shown), "a").lines()) == list(Graph(shown, "a").lines())
    assert replace(shown.boxes[0], mark="added") != shown.boxes[0]
