"""Programs that another one calls step by step: `open` starts a run, `step` continues it through the places it names."""

from typing import Optional

from runtime_shim.engine.command_line import resume, run
from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_STOP, EXIT_WAITING, RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import ENDED, State
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import Move


def is_at(program: Table, name: str, places: list[str]) -> bool:
    """Tell whether a node is one of these places, or a stage of a step that is one."""
    return name in places or program["nodes"].get(name, {}).get("step") in places


def open_run(session: Session) -> int:
    """Start a run, or take up the one that is there, and do nothing of it."""
    state = session.read_state()
    is_new = state is None or state.condition in ENDED
    vars(session.options).update(only=[], command="run" if is_new else "resume")
    return run(session) if is_new else resume(session)


def step(session: Session) -> int:
    """Continue a run while it is in one of the places; where it is elsewhere, do nothing."""
    program, places, state = session.program, session.options.PLACE, session.read()
    for place in places:
        if not any(is_at(program, name, [place]) for name in session.places):
            raise RefusedError(f"there is no step {one_line(place)!a}; `steps` lists the steps")
    if state is not None and (state.condition == "complete" or not is_at(program, _place_of(state), places)):
        return _elsewhere(session, state, places)
    vars(session.options).update(only=places, command="resume")
    return resume(session)


def _place_of(state: State) -> str:
    """Return where a run is, or where it failed."""
    return str(state.finished[-1]["node"]) if state.condition == "stop" and state.finished else state.node


def _elsewhere(session: Session, state: State, places: list[str]) -> int:
    """Say why nothing is done, and return what that means for the caller."""
    program, at, what = session.program, _place_of(state), f"step {one_line(' '.join(places))}"
    order, last = list(program["nodes"]), [name for name in session.places if is_at(program, name, places)][-1]
    is_later = at in order[order.index(last) :]
    reopens = any(extension.reopens for extension in session.extensions)
    if state.condition == "stop" and not (reopens and is_later):
        session.display.rule(f"STOP {one_line(state.message)}".rstrip())
        return EXIT_STOP
    if state.condition == "complete" or is_later:
        session.display.rule(f"{what} is completed")
        return EXIT_COMPLETE
    if state.condition == "waiting":
        session.state = state  # titles may have its counters in them
        session.display.rule(f"WAITING {session.label(at)}")
        return EXIT_WAITING
    raise RefusedError(f"{what} is not due: the run is at step {at}")


class Stepping(Extension):
    """Has a call end where the run leaves its places."""

    commands = {
        "open": ("start a run without running a step", open_run),
        "step": ("continue a run through these steps", step),
    }
    options = (("step", "PLACE", "STEP...", "the steps that are due"),)

    def _is_over(self, name: str) -> bool:
        only = self.session.options.only  # None stands for all
        return only is not None and not is_at(self.session.program, name, only)

    def stand(self, move: Move, _before: Optional[State], stand: Record) -> Record:
        """Leave the step that follows for another call."""
        is_left = stand["condition"] == "running" and self._is_over(move.node)
        return {**stand, "condition": "ready"} if is_left else stand

    def halt(self) -> str:
        """Say that a call ends where the run leaves its places."""
        only, state = self.session.options.only, self.session.state
        if not self._is_over(state.node):
            return ""
        return f"step {one_line(' '.join(only))} is completed" if only else f"run {state.begin['run']} is open"
