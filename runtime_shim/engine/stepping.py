"""Programs that another one calls step by step: `open` starts a run, `step` continues it while it is in some places."""

from typing import Any, Optional

from runtime_shim.engine.command_line import resume, run
from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_STOP, EXIT_WAITING, RefusedError
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import ENDED, State
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import Move


def open_run(session: Session) -> int:
    """Start a run, or take up the one that is there, and do nothing of it."""
    state = session.read_state()
    is_new = state is None or state.condition in ENDED
    vars(session.options).update(only=[], command="run" if is_new else "resume")
    return run(session) if is_new else resume(session)


def step(session: Session) -> int:
    """Continue a run while it is in one of the places; where it is elsewhere, say what that means for the caller."""
    state: Any = session.read()
    nodes, order, places = session.program["nodes"], list(session.program["nodes"]), session.options.PLACE
    names = {name: {name, nodes[name].get("step")} for name in session.places}  # a stage belongs to a step
    for place in places:
        if all(place not in known for known in names.values()):
            raise RefusedError(f"there is no step {place!a}; `steps` lists the steps")
    only = [name for name in names if names[name] & {*places}]
    vars(session.options).update(only=only, command="resume")
    is_stopped, what = state.condition == "stop", f"step {' '.join(places)}"
    at = state.finished[-1]["node"] if is_stopped and state.finished else state.node  # where it is, or failed
    if at in only and state.condition != "complete":
        return resume(session)
    session.state = state  # titles may have its counters in them
    is_later = at in order[order.index(only[-1]) :]
    if is_stopped and not (is_later and any(each.reopens for each in session.extensions)):
        session.display.rule(f"STOP {one_line(state.message)}".rstrip())
        return EXIT_STOP
    if is_later or state.condition == "complete":
        session.display.rule(f"{what} is completed")
        return EXIT_COMPLETE
    if state.condition != "waiting":
        raise RefusedError(f"{what} is not due: the run is at step {at}")
    session.display.rule(f"WAITING {session.label(at)}")
    return EXIT_WAITING


class Stepping(Extension):
    """Has a call end where the run leaves its places."""

    commands = {
        "open": ("start a run without running a step", open_run),
        "step": ("continue a run through these steps", step),
    }
    options = (("step", "PLACE", "STEP...", "the steps that are due"),)

    def _is_over(self, name: str) -> bool:
        only = self.session.options.only  # None stands for all
        return only is not None and name not in only

    def stand(self, move: Move, _before: Optional[State], stand: Record) -> Record:
        """Leave the step that follows for another call."""
        is_left = stand["condition"] == "running" and self._is_over(move.node)
        return {**stand, "condition": "ready"} if is_left else stand

    def halt(self) -> str:
        """Say that a call ends where the run leaves its places."""
        places, state = self.session.options.PLACE, self.session.state
        if not self._is_over(state.node):
            return ""
        return f"step {' '.join(places)} is completed" if places else f"run {state.begin['run']} is open"
