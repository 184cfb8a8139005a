"""How many steps a run may do, where the operator says so: `--max-steps`, 0 for as many as it takes (W14)."""

import types
from typing import Any, Optional

from runtime_shim.data.agreed import AGREES, agreed
from runtime_shim.data.durations import number_of
from runtime_shim.data.limit import LIMITS
from runtime_shim.engine.command_line import OPTIONS
from runtime_shim.engine.journal import Record
from runtime_shim.engine.session import EVENTS, Session
from runtime_shim.engine.state import State

MAX_STEPS = "max_steps"


def steps_allowed(state: State) -> Optional[int]:
    """Return the number that was said, if one was."""
    found: Optional[int] = agreed(state).get(MAX_STEPS)
    return found


def go_on_with_steps(session: Session, event: str, fields: Record) -> None:
    """Take up a run that has ended at its limit, if this call allows more."""
    state = session.state
    if event != "run_started" or not fields["resumed"] or state.condition != "stop":
        return
    limit = state.finished[-1].get("limited") if state.finished else None
    most = steps_allowed(state)
    if limit is not None and most is not None and (most == 0 or most > limit):
        session.record({"kind": "again", "condition": "ready"})


def steps_wanted(options: types.SimpleNamespace, _before: Any) -> Any:  # noqa: ANN401 (a number, or nothing)
    """Return how many steps the operator allows."""
    given = getattr(options, MAX_STEPS, None)
    return number_of("--max-steps", given, 0) if given else None


LIMITS.append(steps_allowed)
EVENTS.append(go_on_with_steps)
AGREES[MAX_STEPS] = steps_wanted
OPTIONS.append(("run resume", "--max-steps", "NUMBER", "how many steps the whole run may do, 0 for any number"))
