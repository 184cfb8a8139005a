"""Read a run from its legs, and add the next leg for an operator's command."""

import time

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State, Store, replay
from runtime_shim.engine.walk import Move
from runtime_shim.targets.dbos.legs import NO_RESULT, Leg, Legs, Place


class TakenError(UsageError):
    """Someone else added the next leg first."""


class RunStore(Store):
    """The records of a run in the database. Records that an operator's command adds start the next leg."""

    is_queued = True

    def __init__(self, store: Store, database: Legs, run: str, place: Place) -> None:
        super().__init__(store.directory, store.modes)
        self.path, self._database, self._run, self._place = run, database, run, place
        self._read: list[Record] = []
        self._pending: list[Record] = []
        self.given: Table = {}
        self.legs: list[Leg] = database.of_run(run) if database.is_ready() else []

    def records(self) -> list[Record]:
        """Return the records of all legs, read once."""
        if self.legs and not self._read:
            self._read, self.given = self._database.journal(self._run, len(self.legs))
        return self._read

    def read(self) -> "State | None":
        """Return the state of the run."""
        records = self.records()
        if not records:
            raise UsageError(f"there is no run {self._run} in {self._database.shown}; `list` lists the runs")
        return replay(records, self._run, self.modes)

    def lock(self) -> None:
        """Refuse while a leg is queued or runs. The database decides between commands that come at the same time."""
        if self.is_busy():
            decided = [one for one in self.records() if one["kind"] == "done"][-1:]
            by = f" ({decided[0]['node']} was decided by {decided[0]['by']})" if decided and "by" in decided[0] else ""
            words = {"PENDING": "is running", "DELAYED": "pauses before its next attempt"}
            how = words.get(self.legs[-1].status, "is queued")
            raise UsageError(f"{self._run} {how}{by}; wait, or cancel it")

    def open(self) -> None:
        """Do nothing: the database is the journal."""

    def is_there(self) -> bool:
        """Return True: no command can remove a database's rows."""
        return True

    def is_busy(self) -> bool:
        """Return whether a leg is queued or runs."""
        return bool(self.legs) and self.legs[-1].is_active

    def holder(self) -> str:
        """Return nothing: workers have runs, not terminals."""
        return ""

    def append(self, record: Record, sync: bool = True) -> None:  # all records are kept
        """Collect a record for the next leg."""
        self._pending.append(record)

    def go_on(self, delay: float = 0.0, result: Table = NO_RESULT) -> None:
        """Start the next leg with the collected records, unless someone else was first. A `result` ends it at once."""
        last, records = self.legs[-1] if self.legs else None, self._pending
        host = last.result.get("host") if last else None
        place = self._place._replace(queue=f"{self._place.queue}@{host}") if host else self._place
        step = (records[-1].get("next") or records[-1].get("node")) if records else last and last.result.get("step")
        given = {"records": records, "step": step, **(self.given if not last else {})}
        due = max(records[-1].get("due", 0.0) if records else 0.0, time.time() + delay if delay else 0.0)
        if not self._database.enqueue(self._run, len(self.legs) + 1, given, place, due, result):
            taken = f"run {self._run} already exists in {self._database.shown}; choose another --id"
            raise TakenError(f"another person answered or moved {self._run} first" if last else taken)


def run_state(leg: Leg) -> str:
    """Return the condition of a run by its newest leg, for people."""
    if leg.is_active:
        late = leg.status == "DELAYED" and leg.due > time.time() * 1000
        return "paused" if late else "running" if leg.status == "PENDING" else "queued"
    return str(leg.result.get("state") or {"CANCELLED": "halted"}.get(leg.status, "failed"))


def canceled(session: Session) -> Record:
    """Return the record that ends a run."""
    name = session.state.node
    about = session.moved(name, Move(name, {}, {}, "", ()), "canceled", "canceled")
    return {**about, "condition": "stop", "message": "canceled"}
