"""Compute the effects of entering a step by a GOTO or in sequence."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.frontends.rundown.lower.frames import Arrival, Frame, StepRef, resolve_next
from compiler.frontends.rundown.syntax import Action, Complete, Continue, Dynamic, Goto, Step, Stop, Target, Transition
from compiler.ir.edges import Add, AtLeast, CounterTest, Edge, Effect, OutcomeTest, Reset, Set, Test, Written
from compiler.ir.tasks import Verdict
from compiler.text.source import Span


def enter_step(frame: Frame, step: Step) -> Arrival:
    """Enter a step by its header, which restarts it."""
    ref = frame.ref(step)
    if ref.is_leaf:
        return Arrival(frame.entry(ref))
    effects: tuple[Effect, ...] = (Set(frame.retries(ref), 0),) if ref.has_retry else ()
    first = first_child(frame, ref)
    return Arrival(first.target, effects + first.effects)


def first_child(frame: Frame, ref: StepRef) -> Arrival:
    """Start a step at its first child: clear outcomes, set `{n}` to 1, and keep the step's own retries (M9)."""
    if ref.is_leaf:
        return Arrival(frame.entry(ref))
    if ref.syntax.runbooks:
        return Arrival(frame.runbook_ids[ref.label][0])
    first = ref.step.substeps[0]
    effects = _forget(frame, ref.step)
    if first.id is Dynamic.SUBSTEP:
        effects += (Set(frame.substep_counter(ref.step), 1),)
    arrival = enter_substep(frame, frame.ref(ref.step, first))
    return Arrival(arrival.target, effects + arrival.effects)


def enter_substep(frame: Frame, ref: StepRef) -> Arrival:
    """Enter a substep without changing its step."""
    if ref.is_leaf:
        return Arrival(frame.entry(ref))
    return Arrival(frame.runbook_ids[ref.label][0], ((Set(frame.retries(ref), 0),) if ref.has_retry else ()))


def _forget(frame: Frame, step: Step) -> tuple[Effect, ...]:
    return (Reset(frame.id(frame.ref(step))),) if step.id in frame.marked else ()


def jump(frame: Frame, step: Step, target: Target, *, inside: bool) -> Arrival:
    """Enter a step, or one of its children, by a jump from inside or outside the step."""
    if target.child is None:
        arrival = enter_step(frame, step)
        if not target.next:
            return arrival
        return Arrival(arrival.target, (Add(frame.step_counter, 1), *arrival.effects))
    if target.child is Dynamic.SUBSTEP:
        return _enter_instance(frame, step, target.next)
    arrival = enter_substep(frame, frame.refs[step.id, target.child])
    if inside:
        return arrival
    return Arrival(arrival.target, restarted(frame, step) + arrival.effects)


def restarted(frame: Frame, step: Step) -> tuple[Effect, ...]:
    """Return the effects of a jump from outside to a child: the step starts over at that child."""
    ref = frame.ref(step)
    retries: tuple[Effect, ...] = (Set(frame.retries(ref), 0),) if ref.has_retry else ()
    return retries + _forget(frame, step)


def _enter_instance(frame: Frame, step: Step, advance: bool) -> Arrival:
    """Enter the current or next instance of a step's `{n}`; everything else stays unchanged."""
    counter = frame.substep_counter(step)
    parent, child = frame.ref(step), frame.ref(step, step.substeps[0])
    mark, earlier = frame.mark(parent, child), frame.earlier_mark(parent, child)
    effects: tuple[Effect, ...] = (Add(counter, 1),) if advance else (AtLeast(counter, 1),)
    if advance and mark and earlier:
        effects = (Add(earlier, mark), Set(mark, 0), *effects)
    arrival = enter_substep(frame, child)
    return Arrival(arrival.target, effects + arrival.effects)


_GUARDS: dict[Verdict, tuple[Test, ...]] = {verdict: (OutcomeTest(verdict.value),) for verdict in Verdict}
_DEFAULTS: dict[Verdict, Action] = {Verdict.PASS: Continue(), Verdict.FAIL: Stop()}
OTHER = {Verdict.PASS: Verdict.FAIL, Verdict.FAIL: Verdict.PASS}


class Ending(Struct, frozen=True):
    """An end, with the place and step of its first use; `step` is None without a message, because all share it."""

    result: Literal["complete", "stop"]
    message: str
    span: Span
    step: StepRef | None


class Outcomes(Struct):
    """The edges of one frame; `endings` collects the ends that they lead to, by node id."""

    frame: Frame
    endings: dict[str, Ending] = field(default_factory=dict)

    def leaf_edges(self, ref: StepRef) -> Iterator[Edge]:
        """Yield the edges of a step without children, in the order in which a run tests them."""
        leaving: tuple[Effect, ...] = (Set(self.frame.retries(ref), 0),) if ref.has_retry else ()
        for verdict, guard in _GUARDS.items():
            transition = ref.transitions.get(verdict)
            if transition and transition.retries:
                yield self._again(ref, transition, guard, Arrival(self.frame.entry(ref)))
            yield self.leave(ref, verdict).edge(guard, leaving)

    def settled_edges(self, ref: StepRef, verdict: Verdict) -> Iterator[Edge]:
        """Yield the edges of the node for a RETRY of a step with children."""
        transition = ref.transitions.get(verdict)
        if not transition or not transition.retries:
            return
        yield self._again(ref, transition, (), first_child(self.frame, ref))
        yield self.leave(ref, verdict).edge()

    def _again(self, ref: StepRef, retry: Transition, tests: tuple[Test, ...], again: Arrival) -> Edge:
        """Return the edge of a RETRY, which applies until its count is used up."""
        counter = self.frame.retries(ref)
        guard = (*tests, CounterTest(counter, "<", retry.retries))
        effects = (Add(counter, 1), *again.effects)
        return Edge(guard, effects, again.target, (Written(f"RETRY {retry.retries}"),), (self.frame.at(retry.span),))

    def decision_edges(self, step: StepRef) -> Iterator[Edge]:
        """Yield the edges of the node that computes a step's outcome from its children's marks (M11)."""
        marks: list[str] = []
        for substep in step.step.substeps:
            child = self.frame.ref(step.step, substep)
            marks += [m for m in (self.frame.mark(step, child), self.frame.earlier_mark(step, child)) if m]
        decided = self.settle(step, step.decisive)
        for mark in marks:
            yield decided.edge((CounterTest(mark, ">=", 1),))
        yield self.settle(step, OTHER[step.decisive]).edge()

    def leave(self, ref: StepRef, verdict: Verdict) -> Arrival:
        """Return the arrival for a step's outcome after any retries: record it, then act or use the default (M13)."""
        transition = ref.transitions.get(verdict)
        if ref.substep is None:
            return self._act(ref, verdict, transition)
        parent = self.frame.ref(ref.step)
        mark = self.frame.mark(parent, ref)
        record = (Set(mark, int(verdict is parent.decisive)),) if mark else ()
        if transition:
            arrival = self._act(ref, verdict, transition)
        elif verdict is parent.decisive:
            arrival = self.settle(parent, verdict)
        else:
            arrival = self._next_sibling(parent, ref)
        return replace(arrival, effects=record + arrival.effects) if record else arrival

    def settle(self, ref: StepRef, verdict: Verdict) -> Arrival:
        """Return the arrival for the known outcome of a step with children."""
        transition = ref.transitions.get(verdict)
        if transition and transition.retries:
            again = Arrival(settled_id(self.frame, ref, verdict), written=(Written("", ref.label, verdict.value),))
            return again.settling(self.frame.id(ref), verdict)
        arrival = self.leave(ref, verdict).settling(self.frame.id(ref), verdict)
        default = "CONTINUE" if verdict is Verdict.PASS else "STOP"
        own, *others = arrival.written or (Written(default),)
        if own.step:  # the step has no transition for this outcome, so it becomes the outcome of the step around it
            own, others = Written(), [own, *others]
        return replace(arrival, written=(Written(own.action, ref.label, verdict.value), *others))

    def after_runbook(self, ref: StepRef, index: int, verdict: Verdict) -> Arrival:
        """Return the arrival after a runbook of a step's list; its outcome always goes to the step."""
        if verdict is ref.decisive:
            return self.settle(ref, verdict)
        if index + 1 < len(ref.syntax.runbooks):
            return Arrival(self.frame.runbook_ids[ref.label][index + 1])
        return self.settle(ref, verdict)

    def _next_sibling(self, parent: StepRef, child: StepRef) -> Arrival:
        if following := self.frame.siblings.get(child.label):
            return enter_substep(self.frame, following)
        if parent.step.id in self.frame.marked:
            return Arrival(self.frame.id(parent))
        return self.settle(parent, OTHER[parent.decisive])

    def _act(self, ref: StepRef, verdict: Verdict, transition: Transition | None) -> Arrival:
        """Return the arrival of a step's transition, or of the default PASS: CONTINUE or FAIL: STOP (M6)."""
        if transition is None:
            return self._action(ref, _DEFAULTS[verdict], ref.syntax.span)
        arrival = self._action(ref, transition.action, transition.span)
        written = (_written(transition.action), *arrival.written)
        return replace(arrival, written=written, origins=(self.frame.at(transition.span), *arrival.origins))

    def _action(self, ref: StepRef, action: Action, span: Span) -> Arrival:
        if isinstance(action, Goto):
            target = resolve_next(ref, action.target)
            step = self.frame.by_id[ref.step.id if target.step is None else target.step]
            return jump(self.frame, step, target, inside=ref.step is step)
        if isinstance(action, Continue):
            if ref.substep:
                return self._next_sibling(self.frame.ref(ref.step), ref)
            if after := self.frame.followers.get(ref.step.id):
                return enter_step(self.frame, after)
            return self._end(ref, "complete", "", span)  # after the last step, the runbook completes
        return self._end(ref, "complete" if isinstance(action, Complete) else "stop", action.message, span)

    def _end(self, ref: StepRef, result: Literal["complete", "stop"], message: str, span: Span) -> Arrival:
        """Return the node of an end: one node without a message is shared, each message has a separate node."""
        name = result.upper()
        if not message:
            shared = self.frame.prefix + name
            if shared not in self.endings:
                self.endings[shared] = Ending(result, "", span, None)
            return Arrival(shared)
        base = f"{self.frame.id(ref)}/{name}"
        candidate, number = base, 1
        while self.endings.setdefault(candidate, Ending(result, message, span, ref)).message != message:
            number += 1
            candidate = f"{base}~{number}"
        return Arrival(candidate)


def settled_id(frame: Frame, ref: StepRef, verdict: Verdict) -> str:
    """Return the id of the node that decides a RETRY of a step with children."""
    return f"{frame.id(ref)}/{verdict.name}"


def _written(action: Action) -> Written:
    """Return an action as written, without its message; equal results share one object."""
    return Written(f"GOTO {action.target}") if isinstance(action, Goto) else _WRITTEN[type(action)]


_WRITTEN = {Continue: Written("CONTINUE"), Complete: Written("COMPLETE"), Stop: Written("STOP")}
