"""The arrows of a picture: the edges of a node, merged where they say the same, with labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from backends.captions import Lines, Names, wrapped
from backends.conditions import action, condition, has_condition, past_of_marks, retry_limit
from compiler.ir.edges import Edge, words_of
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, End, Verdict

WORDS = {Verdict.PASS.value: "PASS", Verdict.FAIL.value: "FAIL"}
ANSWERS = {Verdict.PASS.value: "YES", Verdict.FAIL.value: "NO"}

Mark = Literal["", "added", "removed", "changed"]
"""What became of something from one version to another, in a picture of both; "" if nothing did."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """A way from one box to another. `verdict` is the outcome that it is for, None if for both or neither."""

    source: str
    target: str
    says: str
    verdict: Verdict | None
    mark: Mark = ""

    @property
    def lines(self) -> Lines:
        """The label."""
        return wrapped(self.says)


@dataclass(slots=True)
class _Way:
    """Edges that lead to the same place and say the same."""

    target: str
    said: str
    edges: list[Edge] = field(default_factory=list)


def arrows(node: Node, names: Names) -> Iterator[Arrow]:
    """The arrows that leave a node."""
    ways = _merged(node.edges)
    for way in ways:
        words = _rest(node) if len(ways) > 1 and not way.edges[0].guard else _when(node, way.edges, names)
        if not (words or way.said) and len(words_of(way.edges)) > 1:
            words = "then"
        yield Arrow(node.id, way.target, " · ".join(filter(None, (words, way.said))), _verdict(node, way))


def _merged(edges: Iterable[Edge]) -> list[_Way]:
    """Neighbours among the edges that say the same are merged; a RETRY between two of them parts nothing."""
    ways: list[_Way] = []
    latest: dict[object, _Way] = {}
    for edge in edges:
        said = action(edge)
        key = (said, words_of([edge]) if has_condition(edge) else None)
        way = latest.get(key)
        if way is None or way.target != edge.target:
            way = latest[key] = _Way(edge.target, said)
            ways.append(way)
        way.edges.append(edge)
    return ways


def _when(node: Node, edges: Sequence[Edge], names: Names) -> str:
    """The one outcome that edges are for, if there is one, and their condition.

    RETRY is nearly always for FAIL, and the label of so short an arrow should be short.
    """
    is_yes_no = isinstance(node.task, Ask) and node.task.question == "yes_no"
    outcomes = [(ANSWERS if is_yes_no else WORDS).get(word, word) for word in words_of(edges)]
    is_plain_retry = retry_limit(edges[0]) is not None and words_of(edges) == (Verdict.FAIL.value,)
    outcome = outcomes[0] if len(outcomes) == 1 and not is_plain_retry else ""
    return " · ".join(filter(None, (outcome, condition(edges, lambda name: names.short(name, node.group)))))


def _rest(node: Node) -> str:
    """The edge that is taken if no other is."""
    marks = [past for edge in node.edges for past in past_of_marks(edge)]
    return f"none {marks[0]}" if len(marks) > 1 else "otherwise"


def _verdict(node: Node, way: _Way) -> Verdict | None:
    """The outcome that a way is for: of the node, of the step that a branch decides, or of a nested runbook."""
    found = words_of(way.edges)
    if len(found) == 1:
        return Verdict(found[0]) if found[0] in WORDS else None
    if isinstance(node.task, End):
        return Verdict.PASS if node.task.result == "complete" else Verdict.FAIL
    pasts = {past for edge in node.edges for past in past_of_marks(edge)}
    if found or len(pasts) != 1:
        return None
    is_failed = ("failed" in pasts) == bool(way.edges[0].guard)
    return Verdict.FAIL if is_failed else Verdict.PASS
