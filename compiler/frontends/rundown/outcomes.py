"""Leaving units: which edges an outcome opens, with defaults, RETRY and aggregation (M6 to M11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from compiler.frontends.rundown.jumps import enter_step, enter_substep, enter_target, first_child
from compiler.frontends.rundown.names import Arrival, Frame, Unit
from compiler.frontends.rundown.syntax import Action, Complete, Continue, Goto, Stop, Transition
from compiler.ir.edges import Add, CounterTest, Edge, Effect, OutcomeTest, Set, Test, Written
from compiler.ir.tasks import Verdict
from compiler.source import Span

_TESTS = {verdict: OutcomeTest(verdict.value) for verdict in Verdict}
OTHER = {Verdict.PASS: Verdict.FAIL, Verdict.FAIL: Verdict.PASS}


class Ending(NamedTuple):
    """An end that some edge leads to: its result and message, where it was first asked for, and by which unit.

    `unit` is None for an end without a message, which all units share.
    """

    result: Literal["complete", "stop"]
    message: str
    span: Span
    unit: Unit | None


@dataclass
class Outcomes:
    """The edges of one frame. `endings` collects, by node id, the ends that they lead to."""

    frame: Frame
    endings: dict[str, Ending] = field(default_factory=dict)

    def leaf_edges(self, unit: Unit) -> Iterator[Edge]:
        """The edges of a unit without children, in the order in which their guards are tried."""
        leaving: tuple[Effect, ...] = (Set(self.frame.retries(unit), 0),) if unit.has_retry else ()  # M9
        for verdict, test in _TESTS.items():
            transition = unit.transition(verdict)
            if transition and transition.retries:
                yield self._again(unit, transition, (test,), Arrival(self.frame.id(unit)))
            yield self.leave(unit, verdict).edge((test,), leaving)

    def settled_edges(self, unit: Unit, verdict: Verdict) -> Iterator[Edge]:
        """The edges of the node that stands for a RETRY of a unit with children (M9)."""
        transition = unit.transition(verdict)
        if not transition or not transition.retries:
            return
        yield self._again(unit, transition, (), first_child(self.frame, unit))
        yield self.leave(unit, verdict).edge()

    def _again(self, unit: Unit, retry: Transition, tests: tuple[Test, ...], again: Arrival) -> Edge:
        """The edge of a RETRY, taken while its count lasts (M9)."""
        counter = self.frame.retries(unit)
        guard = (*tests, CounterTest(counter, "<", retry.retries))
        effects = (Add(counter, 1), *again.effects)
        written = (Written(f"RETRY {retry.retries}"),)
        return Edge(guard, effects, again.target, written, (self.frame.at(retry.span),))

    def decision_edges(self, step: Unit) -> Iterator[Edge]:
        """The edges of the node where a step's outcome is computed from its children's marks (M11)."""
        marks: list[str] = []
        for substep in step.step.substeps:
            child = Unit(step.step, substep)
            marks += [m for m in (self.frame.mark(step, child), self.frame.earlier_mark(step, child)) if m]
        decided = self.settle(step, step.decisive)
        for mark in marks:
            yield decided.edge((CounterTest(mark, ">=", 1),))
        yield self.settle(step, OTHER[step.decisive]).edge()

    def leave(self, unit: Unit, verdict: Verdict) -> Arrival:
        """Where a unit's outcome leads once no RETRY holds it: record, then the action or the default (M13)."""
        transition = unit.transition(verdict)
        if unit.substep is None:
            return self._act(unit, verdict, transition)
        parent = Unit(unit.step)
        record = self._record(parent, unit, verdict)
        arrival = self._act(unit, verdict, transition) if transition else self._yield(parent, unit, verdict)
        return arrival._replace(effects=record + arrival.effects) if record else arrival

    def settle(self, unit: Unit, verdict: Verdict) -> Arrival:
        """Where a unit with children goes when its outcome is known."""
        transition = unit.transition(verdict)
        if transition and transition.retries:
            return Arrival(settled_id(self.frame, unit, verdict), written=(Written("", unit.label, verdict.value),))
        arrival = self.leave(unit, verdict)
        default = "CONTINUE" if verdict is Verdict.PASS else "STOP"  # M6
        own, *others = arrival.written or (Written(default),)
        if own.unit:  # the unit has no transition for it: its outcome is that of the one around it
            own, others = Written(), [own, *others]
        return arrival._replace(written=(Written(own.action, unit.label, verdict.value), *others))

    def after_runbook(self, unit: Unit, index: int, verdict: Verdict) -> Arrival:
        """How a unit goes on after a runbook of its list: the outcome is always yielded (M11)."""
        if verdict is unit.decisive:
            return self.settle(unit, verdict)
        if index + 1 < len(unit.syntax.runbooks):
            return Arrival(self.frame.runbook_ids(unit)[index + 1])
        return self.settle(unit, verdict)

    def _record(self, parent: Unit, child: Unit, verdict: Verdict) -> tuple[Effect, ...]:
        mark = self.frame.mark(parent, child)
        if mark is None:
            return ()
        return (Set(mark, 1 if verdict is parent.decisive else 0),)

    def _yield(self, parent: Unit, child: Unit, verdict: Verdict) -> Arrival:
        if verdict is parent.decisive:
            return self.settle(parent, verdict)
        return self._next_sibling(parent, child)

    def _next_sibling(self, parent: Unit, child: Unit) -> Arrival:
        following = self.frame.next_sibling(child)
        if following:
            return enter_substep(self.frame, parent.step, following)
        if self.frame.is_marked(parent.step):
            return Arrival(self.frame.id(parent))
        return self.settle(parent, OTHER[parent.decisive])

    def _act(self, unit: Unit, verdict: Verdict, transition: Transition | None) -> Arrival:
        """What a unit's transition says, or the default: PASS: CONTINUE, FAIL: STOP (M6)."""
        default: Action = Continue() if verdict is Verdict.PASS else Stop()
        action = transition.action if transition else default
        arrival = self._action(unit, action, transition.span if transition else unit.syntax.span)
        if transition is None:
            return arrival
        written = (Written(action_label(action)), *arrival.written)
        origins = (self.frame.at(transition.span), *arrival.origins)
        return Arrival(arrival.target, arrival.effects, written, origins)

    def _action(self, unit: Unit, action: Action, span: Span) -> Arrival:
        if isinstance(action, Goto):
            return enter_target(self.frame, unit, action.target)
        if isinstance(action, Continue):
            return self._continue(unit, span)
        return self._end(unit, "complete" if isinstance(action, Complete) else "stop", action.message, span)

    def _continue(self, unit: Unit, span: Span) -> Arrival:
        """The next sibling, or the next numbered step or `{N}`; past the last one the runbook completes (M7)."""
        if unit.substep:
            return self._next_sibling(Unit(unit.step), unit)
        after = self.frame.next_numbered(unit.step)
        return self._end(unit, "complete", "", span) if after is None else enter_step(self.frame, after)

    def _end(self, unit: Unit, result: Literal["complete", "stop"], message: str, span: Span) -> Arrival:
        """The node of an end: one for all that say nothing, one of its own for each with a message."""
        name = result.upper()
        if not message:
            self.endings.setdefault(self.frame.prefix + name, Ending(result, "", span, None))
            return Arrival(self.frame.prefix + name)
        base = f"{self.frame.id(unit)}/{name}"
        candidate, number = base, 1
        while self.endings.setdefault(candidate, Ending(result, message, span, unit)).message != message:
            number += 1
            candidate = f"{base}~{number}"
        return Arrival(candidate)


def settled_id(frame: Frame, unit: Unit, verdict: Verdict) -> str:
    """The id of the node where a RETRY of a unit with children is decided."""
    return f"{frame.id(unit)}/{verdict.name}"


def action_label(action: Action) -> str:
    """An action as an author writes it, without its message."""
    match action:
        case Goto(target):
            return f"GOTO {target}"
        case Continue():
            return "CONTINUE"
        case Complete():
            return "COMPLETE"
        case _:
            return "STOP"
