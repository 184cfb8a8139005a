"""Breakpoints: a run waits after a step, with all that is in it, until it is resumed."""

import re
import types
from typing import Any

from runtime_shim.data.agreed import AGREES, agreed
from runtime_shim.engine.command_line import CHECKS, OPTIONS
from runtime_shim.engine.display import one_line
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import PASSES, PERFORMERS, RECORDS, Session, Waiting
from runtime_shim.engine.state import ENDED
from runtime_shim.engine.walk import Move


def is_in(program: Table, name: str, place: str) -> bool:
    """Tell whether a step has a name, or stands in the step that has it: `2/elicit` and `2a` stand in `2`."""
    told = program.get("steps", {})
    if name in told:
        return name == place or place in told[name]
    return re.fullmatch(rf"{re.escape(place)}([a-z]?(/.*)?|\.[0-9]+.*)", name) is not None


def check_breaks(program: Table, options: types.SimpleNamespace) -> None:
    """Refuse a breakpoint that no run can come to."""
    doing = [name for name, node in program["nodes"].items() if node["task"] in PERFORMERS]
    for place in getattr(options, "break", None) or ():
        if not any(is_in(program, name, place) for name in doing):
            raise RefusedError(f"--break {one_line(place)!a}: there is no such step; `steps` lists the steps")


def stop_behind(session: Session, record: Record) -> Record:
    """Have the run wait where it leaves a place with a breakpoint."""
    if record.get("kind") != "done" or record["condition"] in ENDED:
        return record
    places = agreed(session.state).get("breaks", ())
    whole, left, entered = session.program, record["node"], record["next"]
    is_left = any(is_in(whole, left, place) and not is_in(whole, entered, place) for place in places)
    return {**record, "condition": "waiting", "paused": True} if is_left else record


def wait(session: Session, _move: Move) -> None:
    """Wait, once that is recorded."""
    if session.options.command in ("run", "resume") and session.state.finished[-1].get("paused"):
        raise Waiting(f"to go on: {session.call('resume')}")


def breaks_of(options: types.SimpleNamespace, before: Any) -> Any:  # noqa: ANN401 (names, or nothing)
    """Return all breakpoints of a run, if this call names any."""
    given = getattr(options, "break", None)
    return [*dict.fromkeys([*(before or ()), *given])] if given else None


CHECKS.append(check_breaks)
RECORDS.append(stop_behind)
PASSES.append(wait)
AGREES["breaks"] = breaks_of
OPTIONS.append(("run resume", "--break", "STEP...", "wait after this step; `resume` goes on"))
