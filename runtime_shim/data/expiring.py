"""Runs that wait no longer than the operator allows (`--expire`): after that they are over."""

import time
import types
from typing import Any, Optional

from runtime_shim.data.agreed import AGREES, agreed
from runtime_shim.data.durations import seconds_of
from runtime_shim.engine.command_line import OPTIONS
from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import EVENTS, Session
from runtime_shim.engine.state import READS, State
from runtime_shim.engine.status import FACTS


def begin_to_wait(session: Session, event: str, _fields: Record) -> None:
    """Record since when a run waits."""
    notes = session.state.notes
    if event == "run_waiting" and "expire" in agreed(session.state) and all(n["kind"] != "waits" for n in notes):
        session.record({"kind": "waits", "since": time.time()})


def expire(state: Optional[State]) -> None:
    """End a run that has waited too long."""
    if state is None:
        return
    since = [note["since"] for note in state.notes if note["kind"] == "waits"]
    longest = agreed(state).get("expire")
    if state.condition == "waiting" and longest and since and time.time() - since[0] > longest:
        state.condition, state.message = "stop", f"expired: the run waited longer than {duration(longest)}"
        state.notes.append({"kind": "expired"})


def has_expired(_program: Table, state: State) -> Table:
    """Tell the status of such a run."""
    is_over = any(note["kind"] == "expired" for note in state.notes)
    return {"state": "expired", "expired": True} if is_over else {}


def longest_wait(options: types.SimpleNamespace, _before: Any) -> Any:  # noqa: ANN401 (seconds, or nothing)
    """Return how long the run may wait, if this call says that."""
    given = getattr(options, "expire", None)
    return seconds_of("--expire", given) if given else None


EVENTS.append(begin_to_wait)
READS.append(expire)
FACTS.append(has_expired)
AGREES["expire"] = longest_wait
OPTIONS.append(("run", "--expire", "TIME", "a run that waits longer than this is over, such as 24h"))
