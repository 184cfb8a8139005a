"""Which strings stand for all that a program's tests distinguish, at its start and in answers."""

import pytest

from compiler.analyses.domains import has_few_beginnings, outcomes_by_node, valid_beginnings
from compiler.ir.edges import Edge, Keep, Origin, SlotTest
from compiler.ir.program import Input, Node, Program, Slot, SourceFile
from compiler.ir.tasks import Ask, Branch, End, Value
from compiler.ir.texts import Text, text
from compiler.text.source import Span

PLACE = Origin("x.runbook.md", Span(1, 1, 1, 2))


def program(tested: tuple[str, ...], *inputs: Input, asks: Value | None = None) -> Program:
    """A program that asks for a value and tests whether it, or the input of that name, is one of some strings."""
    task, keep = Ask("value", text("?"), value=asks), (Keep("mode"),) if asks else ()
    branches = tuple(Edge((SlotTest("mode", "==", one),), (), "END") for one in tested)
    nodes = (
        Node("1", Text(), PLACE, task, (Edge((), keep, "2"),)),
        Node("2", Text(), PLACE, Branch(), (*branches, Edge((), (), "END"))),
        Node("END", Text(), PLACE, End("complete"), ()),
    )
    return Program("x", "X", (SourceFile("x", "0"),), "1", nodes, slots=(Slot("mode"),), inputs=inputs)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (Input("mode"), ["a", "other text"]),
        (Input("mode", required=False), [None, "a", "other text"]),
        (Input("mode", default="a"), [None, "a", "other text"]),
        (Input("mode", "choice", options=("a", "b", "c")), ["a", "b"]),
    ],
)
def test_a_run_starts_without_an_input_only_if_it_may(declared: Input, expected: list[str | None]) -> None:
    assert [given.get("mode") for given in valid_beginnings(program(("a",), declared))] == expected


@pytest.mark.parametrize(
    ("tested", "declared", "is_known"),
    [
        (("a",), Input("mode"), True),
        (("0", "1", "2"), Input("mode", "number"), True),
        (("true", "false"), Input("mode", "boolean"), True),
        (("a", "b"), Input("mode", "choice", options=("a", "b")), True),
        (("a",), Input("mode", pattern="[a-c]"), False),
        (("a",), Input("mode", pattern="[a-z]"), True),
    ],
)
def test_some_string_stands_for_all_that_no_test_names(
    tested: tuple[str, ...], declared: Input, is_known: bool
) -> None:
    assert has_few_beginnings(program(tested, declared)) is is_known


@pytest.mark.parametrize(
    ("tested", "value", "expected"),
    [
        (("a",), Value("mode"), ["a", "other text"]),
        (("0", "1"), Value("mode", "number"), ["0", "1", "2"]),
        (("a",), Value("mode", "choice", ("a", "b", "c")), ["a", "b"]),
        (("z",), Value("mode", "choice", ("a", "b")), ["a"]),
    ],
)
def test_answers_that_tests_distinguish_are_tried(tested: tuple[str, ...], value: Value, expected: list[str]) -> None:
    outcomes, _ = outcomes_by_node(program(tested, asks=value))
    assert [one.text for one in outcomes["1"] if one.word == "pass"] == expected
