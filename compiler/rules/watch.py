"""Follow a rule along the transitions of a program: one move of a run, one event after the other (P-6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from compiler.analyses.exploration import explore
from compiler.ir.edges import Edge, Following, OutcomeTest, Test
from compiler.ir.paths import Visit
from compiler.ir.program import Node, Program
from compiler.ir.rules import Event, Rule, events_after
from compiler.ir.semantics import Machine, State
from compiler.ir.tasks import Ask, End, Gate, alphabet

BROKEN = -1
OUTSIDE = -2
"""The value of a rule outside of its inclusion."""

Move = tuple[str | None, Edge]
"""An edge with the outcome after which a run takes it; None at a node without a task."""


Moves = Mapping[str, tuple[Move, ...]]
"""The moves from each node."""


def possible_moves(program: Program) -> Moves:
    """Return the moves from each node that the exploration doesn't exclude. They are found once."""
    if "moves" not in program.analyses:
        left = explore(program).edges
        program.analyses["moves"] = {node.id: tuple(_moves(node, left.get(node.id))) for node in program.nodes}
    found: Moves = program.analyses["moves"]
    return found


def _moves(node: Node, left: Mapping[int, frozenset[Test]] | None) -> Iterator[Move]:
    """Yield the moves from a node; behind an edge that a run always takes after an outcome, no other one follows it."""
    following = Following(node.edges)
    for word in alphabet(node.task) or (None,):
        for place, edge in following.after(word):
            if left is not None and place not in left:
                continue
            yield word, edge
            if not left[place] if left is not None else all(isinstance(test, OutcomeTest) for test in edge.guard):
                break


def ends_by_waiting(node: Node) -> bool:
    """Return whether the run ends if a person waits too long at a node. Most questions fail, and gates are rejected."""
    is_decided = isinstance(node.task, Gate) or (
        isinstance(node.task, Ask) and node.task.question not in {"confirm", "input", "select"}
    )
    return node.settings.expire > 0 and not is_decided


class Watch:
    """A rule to follow. `event` is the last event that broke it."""

    def __init__(self, program: Program, rule: Rule) -> None:
        self.rule = rule
        self.event: Event | None = None
        self.before = OUTSIDE if rule.scope else rule.initial
        self.nodes = program.index()
        self._limit = program.limit
        groups = ("", *program.parents) if rule.scope else ()
        self._outside = {group for group in groups if rule.scope not in program.around(group)}
        self._relevant = {*rule.guards, *rule.opens, *rule.closes}

    def taken(self, value: int, word: str | None, source: str, edge: Edge, *, is_checked: bool = True) -> int:
        """Return the value after an edge: after the outcome, and after the outcomes that the edge settles."""
        if word is not None:
            events: Iterable[Event] = events_after(source, word, (edge,))
        elif edge.settles:
            events = (Event(settled.step, settled.word) for settled in edge.settles)
        else:
            return value
        for event in events:
            value = self.after(value, event, is_checked=is_checked)
            if value == BROKEN:
                break
        return value

    def arrived(self, value: int, name: str, *, is_over: bool = False, is_checked: bool = True) -> int:
        """Return the value after the start of a node's task, or the end of the run there."""
        node = self.nodes[name]
        if node.group in self._outside:
            value = OUTSIDE
        elif value == OUTSIDE and not node.is_passed:
            value = self.rule.initial
        if node.is_passed:
            return value
        if node.is_end or is_over:
            result = node.task.result if isinstance(node.task, End) else "stop"
            return self.after(value, Event("", result), is_checked=is_checked)
        value = self.after(value, Event(name), is_checked=is_checked)
        if value != BROKEN and ends_by_waiting(node) and self.after(value, Event("", "stop")) == BROKEN:
            return BROKEN
        return value

    def after(self, value: int, event: Event, *, is_checked: bool = True) -> int:
        """Return the value after an event: first check, then close, then open (P-5)."""
        if value == OUTSIDE:
            return value
        if event in self._relevant:
            if is_checked and self.rule.breaks(value, event):
                self.event = event
                return BROKEN
            value = self.rule.after(value, event)
        return OUTSIDE if event.step and event.step == self.rule.scope else value

    def may_be_over(self, name: str) -> bool:
        """Return whether the limit of steps can end a run before a node (I24)."""
        return self._limit is not None and not isinstance(self.nodes[name].task, Gate)

    def visited(self, machine: Machine, made: Visit | None, state: State, value: int) -> int:
        """Return the value after a visit that leads to a state, or after the start of the run."""
        source, word = (made.step, made.outcome.word) if made else ("", None)
        for edge in made.edges if made else ():
            value = self.taken(value, word, source, edge)
            if value == BROKEN:
                return value
            source, word = edge.target, None
            if source != state.node:
                value = self.arrived(value, source)
        return self.arrived(value, state.node, is_over=machine.end(state) is not None)
