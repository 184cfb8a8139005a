"""What an operator says once for a whole run: it is kept in the journal, and later calls go by it too."""

import types
from typing import Any, Callable

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import EVENTS, RECORDS, Session
from runtime_shim.engine.state import State

AGREES: dict[str, Callable[[types.SimpleNamespace, Any], Any]] = {}
"""For each thing, what the options say of it; they get what was said before. None for nothing new."""


def agreed(state: State) -> Table:
    """Return what holds for a run; what was said last counts."""
    notes = (note["agreed"] for note in state.notes if note["kind"] == "agreed")
    last = state.finished[-1] if state.finished else state.begin
    found: Table = {}
    for part in (last.get("agreed", {}), *notes):
        found.update(part)
    return found


def agreeing(options: types.SimpleNamespace, before: Table) -> Table:
    """Return what the options of this call say."""
    found = {key: agree(options, before.get(key)) for key, agree in AGREES.items()}
    return {key: value for key, value in found.items() if value is not None}


def carried(session: Session, record: Record) -> Record:
    """Write what holds into the first record of a run, and into that of each step that is done."""
    kind = record.get("kind")
    found = agreeing(session.options, {}) if kind == "begin" else agreed(session.state) if kind == "done" else {}
    return {**record, "agreed": found} if found else record


def take_up(session: Session, event: str, fields: Record) -> None:
    """Record what a resume says besides."""
    if event == "run_started" and fields["resumed"]:
        before = agreed(session.state)
        found = agreeing(session.options, before)
        if any(before.get(key) != value for key, value in found.items()):
            session.record({"kind": "agreed", "agreed": found})


RECORDS.append(carried)
EVENTS.append(take_up)
