"""Places on paths of a graph that is followed from its start."""

from __future__ import annotations

import pytest

from compiler.ir.graph import on_the_way

GRAPH = {"a": "bc", "b": "d", "c": "ce", "d": "bg", "e": "", "g": "h", "h": "g"}


@pytest.mark.parametrize(
    ("start", "goal", "expected"),
    [("a", "g", "abd"), ("a", "e", "ac"), ("c", "g", ""), ("e", "a", ""), ("b", "d", "b")],
)
def test_only_places_on_a_path_to_the_goal_are_found(start: str, goal: str, expected: str) -> None:
    assert on_the_way(start, goal, GRAPH.__getitem__) == frozenset(expected)
