"""The operator's jumps: `goto STEP` acts like a GOTO to that step from the current step (M10, E6)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.frontends.rundown.jumps import jump, restarted
from compiler.frontends.rundown.names import Frame, StepRef
from compiler.frontends.rundown.syntax import Dynamic, Step, Substep, Target
from compiler.ir.program import Entering, Jump


def operator_jumps(frame: Frame) -> Iterator[Jump]:
    """Yield the jumps to steps of one inclusion that have effects, in document order."""
    for step in frame.steps:
        if frame.ref(step).is_leaf and not frame.entering:
            continue  # for most steps, a jump has no effects
        inner = entering_step(frame, step)
        for ref in (frame.ref(step), *(frame.ref(step, substep) for substep in step.substeps)):
            entering = frame.entering if ref.substep is None or _keeps(ref.substep) else inner
            if not entering and ref.is_leaf and not (ref.substep and _keeps(ref.substep)):
                continue
            found = _jump(frame, step, ref, entering)
            if found.all_effects:
                yield found


def entering_step(frame: Frame, step: Step) -> tuple[Entering, ...]:
    """Return the effects of a jump on each group around a step's child, outermost first."""
    effects = restarted(frame, step)
    return (*frame.entering, *((Entering(frame.id(frame.ref(step)), effects),) if effects else ()))


def _keeps(substep: Substep) -> bool:
    """Return whether a jump to a substep always keeps its step's state, as for the current `{n}` (M10)."""
    return isinstance(substep.id, Dynamic)


def _jump(frame: Frame, step: Step, ref: StepRef, entering: tuple[Entering, ...]) -> Jump:
    target = Target(False, step.id, ref.substep.id if ref.substep else None, ref.syntax.span)
    arrival = jump(frame, step, target, inside=True)
    return Jump(frame.id(ref), arrival.target, entering, arrival.effects)
