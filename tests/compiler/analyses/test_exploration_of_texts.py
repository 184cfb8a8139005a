"""Branches on texts that no run can take, and tests that always hold (I17)."""

from __future__ import annotations

import pytest

from compiler.analyses.exploration import explore
from compiler.ir.edges import Clear, Edge, Origin, SlotTest
from compiler.ir.program import Input, Node, Program, Slot, SourceFile
from compiler.ir.tasks import Branch, End
from compiler.ir.texts import Text
from compiler.text.source import Span

HERE = Origin("a.md", Span(1, 1, 1, 2))
STYLE = Input("style", "choice", options=("formal", "casual"))


def is_(text: str, slot: str = "style") -> SlotTest:
    return SlotTest(slot, "==", text)


def not_(text: str, slot: str = "style") -> SlotTest:
    return SlotTest(slot, "!=", text)


def program(*guards: tuple[SlotTest, ...], inputs: tuple[Input, ...] = (), clears: bool = False) -> Program:
    effects = (Clear("style"),) if clears else ()
    edges = tuple(Edge(guard, effects, "end") for guard in guards)
    nodes = (
        Node("1", Text(), HERE, Branch(), (*edges, Edge((), (), "end"))),
        Node("end", Text(), HERE, End("complete"), ()),
    )
    return Program("p", "", (SourceFile("a.md", "0" * 64),), "1", nodes, slots=(Slot("style"),), inputs=inputs)


def left(found: Program) -> list[int]:
    """The places of the edges that can be taken."""
    return list(explore(found).edges["1"])


@pytest.mark.parametrize(
    ("guards", "expected"),
    [
        ([(is_("a"),), (is_("b"),)], [0, 1, 2]),
        ([(is_("a"),), (is_("a"),)], [0, 2]),
        ([(is_("a"),), (not_("a"),)], [0, 1]),
        ([(not_("a"),), (is_("a"),), (is_("b"),)], [0, 1]),
        ([(not_("a"),), (not_("b"),)], [0, 1]),
        ([(is_("a"), not_("a"))], [1]),
        ([(is_("a"), is_("b"))], [1]),
    ],
)
def test_an_edge_that_an_earlier_one_rules_out(guards: list[tuple[SlotTest, ...]], expected: list[int]) -> None:
    assert left(program(*guards)) == expected


def test_what_an_input_cannot_be_is_never_tested_with_success() -> None:
    assert left(program((is_("formall"),), inputs=(STYLE,))) == [1]
    assert left(program((is_("formal"),), (is_("casual"),), inputs=(STYLE,))) == [0, 1]
    assert left(program((is_("yes"),), inputs=(Input("style", "boolean"),))) == [1]
    assert left(program((is_(""),), inputs=(Input("style", "boolean", required=False),))) == [0, 1]


def test_an_input_that_changes_can_be_anything() -> None:
    assert left(program((is_("formall"),), inputs=(STYLE,), clears=True)) == [0, 1]


def test_a_test_that_always_holds_is_not_open() -> None:
    found = explore(program((is_("a"),), (not_("a"),))).edges["1"]
    assert [set(tests) for tests in found.values()] == [{is_("a")}, set()]
