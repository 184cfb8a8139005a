"""Compute the effects of entering a step by a GOTO or in sequence (M7, M10, M12)."""

from __future__ import annotations

from compiler.frontends.rundown.names import Arrival, Frame, StepRef, resolve_next
from compiler.frontends.rundown.syntax import Dynamic, Step, Substep, Target
from compiler.ir.edges import Add, AtLeast, Effect, Reset, Set


def enter_step(frame: Frame, step: Step) -> Arrival:
    """Enter a step by its header, which restarts it (M10)."""
    ref = frame.ref(step)
    if ref.is_leaf:
        return Arrival(frame.id(ref))
    effects: tuple[Effect, ...] = (Set(frame.retries(ref), 0),) if ref.has_retry else ()
    first = first_child(frame, ref)
    return Arrival(first.target, effects + first.effects)


def first_child(frame: Frame, ref: StepRef) -> Arrival:
    """Start a step at its first child: clear the children's outcomes and set `{n}` to 1 (M10).

    The step keeps its own retry count (M9).
    """
    if ref.is_leaf:
        return Arrival(frame.id(ref))
    if ref.syntax.runbooks:
        return Arrival(frame.runbook_ids(ref)[0])
    first = ref.step.substeps[0]
    effects = _forget(frame, ref.step)
    if first.id is Dynamic.SUBSTEP:
        effects += (Set(frame.substep_counter(ref.step), 1),)
    arrival = enter_substep(frame, ref.step, first)
    return Arrival(arrival.target, effects + arrival.effects)


def enter_substep(frame: Frame, step: Step, substep: Substep) -> Arrival:
    """Enter a substep without changing its step."""
    ref = frame.ref(step, substep)
    if ref.is_leaf:
        return Arrival(frame.id(ref))
    effects = (Set(frame.retries(ref), 0),) if ref.has_retry else ()
    return Arrival(frame.runbook_ids(ref)[0], effects)


def _forget(frame: Frame, step: Step) -> tuple[Effect, ...]:
    return (Reset(frame.id(frame.ref(step))),) if frame.is_marked(step) else ()


def enter_target(frame: Frame, place: StepRef, written: Target) -> Arrival:
    """Return the arrival of a `GOTO target` at the given place."""
    target = resolve_next(place, written)
    step = frame.by_id[place.step.id if target.step is None else target.step]
    return jump(frame, step, target, inside=place.step is step)


def jump(frame: Frame, step: Step, target: Target, *, inside: bool) -> Arrival:
    """Enter a step, or one of its children, by a jump from inside or outside the step."""
    if target.child is None:
        arrival = enter_step(frame, step)
        if not target.next:
            return arrival
        return Arrival(arrival.target, (Add(frame.step_counter, 1), *arrival.effects))
    if target.child is Dynamic.SUBSTEP:
        return _enter_instance(frame, step, target.next)
    arrival = enter_substep(frame, step, frame.substep(step, target.child))
    if inside:
        return arrival
    return Arrival(arrival.target, restarted(frame, step) + arrival.effects)


def restarted(frame: Frame, step: Step) -> tuple[Effect, ...]:
    """Return the effects of a jump from outside to a child: the step starts over at that child (M10)."""
    ref = frame.ref(step)
    retries: tuple[Effect, ...] = (Set(frame.retries(ref), 0),) if ref.has_retry else ()
    return retries + _forget(frame, step)


def _enter_instance(frame: Frame, step: Step, advance: bool) -> Arrival:
    """Enter the current or next instance of a step's `{n}`; everything else stays unchanged (M10, M12)."""
    counter = frame.substep_counter(step)
    parent, child = frame.ref(step), frame.ref(step, step.substeps[0])
    mark, earlier = frame.mark(parent, child), frame.earlier_mark(parent, child)
    effects: tuple[Effect, ...] = (Add(counter, 1),) if advance else (AtLeast(counter, 1),)
    if advance and mark and earlier:
        effects = (Add(earlier, mark), Set(mark, 0), *effects)
    arrival = enter_substep(frame, step, step.substeps[0])
    return Arrival(arrival.target, effects + arrival.effects)
