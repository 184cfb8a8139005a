"""Follow a rule along the transitions of a program: one move of a run, one event after the other (P-6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.analyses.exploration import explore
from compiler.ir.edges import Edge, Following, OutcomeTest, Test
from compiler.ir.paths import Visit
from compiler.ir.program import Node, Program
from compiler.ir.rules import Event, Rule, events_after
from compiler.ir.semantics import Machine, State
from compiler.ir.tasks import Ask, End, alphabet

BROKEN = -1
OUTSIDE = -2
"""The value of a rule outside of its inclusion."""

Moves = Mapping[str, tuple[tuple[str | None, Edge], ...]]
"""The moves from each node: edges with the outcome after which a run takes them; None at a node without a task."""


def possible_moves(program: Program) -> Moves:
    """Return the moves from each node that the exploration doesn't exclude. They are found once."""
    if "moves" not in program.analyses:
        left = explore(program).edges
        program.analyses["moves"] = {node.id: tuple(_moves(node, left.get(node.id))) for node in program.nodes}
    found: Moves = program.analyses["moves"]
    return found


def _moves(node: Node, left: Mapping[int, frozenset[Test]] | None) -> Iterator[tuple[str | None, Edge]]:
    """Yield the moves from a node; behind an edge that a run always takes after an outcome, no other one follows it."""
    following = Following(node.edges)
    if left is None:
        tests = ((test for test in edge.guard if not isinstance(test, OutcomeTest)) for edge in node.edges)
        left = dict(enumerate(map(frozenset, tests)))
    for word in alphabet(node.task) or (None,):
        for place, edge in following.after(word):
            if place in left:
                yield word, edge
                if not left[place]:
                    break


def ends_by_waiting(node: Node) -> bool:
    """Return whether the run ends if a person waits too long at a node. Most questions fail, and gates are rejected."""
    return (
        node.settings.expire > 0 and isinstance(node.task, Ask) and node.task.question in {"confirm", "input", "select"}
    )


class Watch:
    """A rule to follow; a value that is `BROKEN` stays. `event` is the last event that broke it."""

    def __init__(self, program: Program, rule: Rule) -> None:
        self.rule = rule
        self.event: Event | None = None
        self.before = OUTSIDE if rule.scope else rule.initial
        self.nodes = program.index()
        groups = ("", *program.parents) if rule.scope else ()
        self._outside = {group for group in groups if rule.scope not in program.around(group)}
        self._relevant = {*rule.guards, *rule.opens, *rule.closes}

    def taken(self, value: int, word: str | None, source: str, edge: Edge) -> int:
        """Return the value after an edge: after the outcome, and after the outcomes that the edge settles."""
        if word is not None or edge.settles:
            for event in events_after(source, word, (edge,)):
                value = self.after(value, event)
        return value

    def arrived(self, value: int, name: str, *, is_over: bool = False) -> int:
        """Return the value after the start of a node's task, or the end of the run there."""
        node = self.nodes[name]
        if value != BROKEN and node.group in self._outside:
            value = OUTSIDE
        elif value == OUTSIDE and not node.is_passed:
            value = self.rule.initial
        if node.is_passed:
            return value
        if node.is_end or is_over:
            return self.after(value, Event("", node.task.result if isinstance(node.task, End) else "stop"))
        value = self.after(value, Event(name))
        is_broken = ends_by_waiting(node) and self.after(value, Event("", "stop")) == BROKEN
        return BROKEN if is_broken else value

    def after(self, value: int, event: Event) -> int:
        """Return the value after an event: first check, then close, then open (P-5)."""
        if value < 0:
            return value
        if event in self._relevant:
            if self.rule.breaks(value, event):
                self.event = event
                return BROKEN
            value = self.rule.after(value, event)
        return OUTSIDE if event.step and event.step == self.rule.scope else value

    def visited(self, machine: Machine, made: Visit | None, state: State, value: int) -> int:
        """Return the value after a visit that leads to a state, or after the start of the run."""
        source, word = (made.step, made.outcome.word) if made else ("", None)
        for edge in made.edges if made else ():
            value = self.taken(value, word, source, edge)
            source, word = edge.target, None
            if source != state.node:
                value = self.arrived(value, source)
        return self.arrived(value, state.node, is_over=machine.end(state) is not None)
