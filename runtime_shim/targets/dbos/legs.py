"""The legs of a program's runs, as rows in the tables of DBOS 3.4.

DBOS writes these rows for workers. Operators' commands read and write them here, since loading DBOS takes a second.
The columns are those of `dbos._schemas.system_database`.
"""

import json
import os
import re
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.targets.dbos.database import Database

ACTIVE = ("ENQUEUED", "PENDING", "DELAYED")
LEG = "leg"  # the name of the workflow
RUN_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"  # runs and workers have files: no other name from a database is used
WORKER_NAME = "[A-Za-z0-9.-]+:[0-9]+:[0-9a-f]{8}"
AT_ONCE = 64  # legs of one query
NO_RESULT: Table = {}
LAST = "NOT EXISTS (SELECT 1 FROM workflow_status n WHERE n.parent_workflow_id = s.workflow_uuid)"
BEFORE, AFTER = 1, 10  # priorities: later legs, and new runs
COLUMNS = ("status", "executor_id", "application_version", "created_at", "updated_at", "delay_until_epoch_ms")


class Place(NamedTuple):
    """Where legs of a program wait: their queue and the version of the program."""

    queue: str
    version: str


class Leg(NamedTuple):
    """A leg: its state in DBOS, the worker that has it, and its result once it has ended. Times are in milliseconds."""

    run: str
    number: int
    status: str
    worker: str
    version: str
    created: int
    updated: int
    due: int
    result: Table

    @property
    def is_active(self) -> bool:
        """Whether the leg waits for a worker or is at one."""
        return self.status in ACTIVE


def now_ms() -> int:
    """Return the time in milliseconds."""
    return time.time_ns() // 10**6


def leg_id(run: str, number: int) -> str:
    """Return the name of a leg."""
    return f"{run}.{number}"


class Legs(Database):
    """The rows of a program's legs."""

    def enqueue(
        self, run: str, number: int, given: Table, place: Place, due: float = 0, result: Table = NO_RESULT
    ) -> bool:
        """Add a leg and return True, or return False if the run has a leg of this number.

        `given` has the records that start the leg, `due` is the time in seconds when it may start. A leg with a
        `result` has ended.
        """
        name, now, is_late = leg_id(run, number), now_ms(), due > time.time()
        row = {
            "workflow_uuid": name, "name": LEG, "serialization": "portable_json", "recovery_attempts": 0,
            "status": "SUCCESS" if result else "DELAYED" if is_late else "ENQUEUED",
            "created_at": now, "updated_at": now, "application_name": self.application,
            "application_version": place.version, "queue_name": place.queue,
            "priority": BEFORE if number > 1 else AFTER, "creator_xid": os.urandom(16).hex(),
            "parent_workflow_id": leg_id(run, number - 1) if number > 1 else None,
            "delay_until_epoch_ms": int(due * 1000) if is_late else None,
        }  # fmt: skip
        inputs = json.dumps({"positionalArgs": [run, number, given], "namedArgs": {}}, separators=(",", ":"))
        marks = ", ".join("?" * len(row))
        added = f"INSERT INTO workflow_status ({', '.join(row)}) VALUES ({marks}) ON CONFLICT DO NOTHING"
        more = "INSERT INTO workflow_input (workflow_uuid, inputs, retention_timestamp) VALUES (?, ?, ?)"
        with self.transaction() as cursor:
            cursor.execute(self.dialect(added), tuple(row.values()))
            is_first = bool(cursor.rowcount == 1)
            if is_first:
                cursor.execute(self.dialect(more), (name, inputs, now))
            if is_first and result:
                ended = more.replace("inputs", "output").replace("_input", "_output")
                cursor.execute(self.dialect(ended), (name, json.dumps(result, separators=(",", ":")), now))
        return is_first

    def of_run(self, run: str) -> list[Leg]:
        """Return the legs of a run in order."""
        found: list[Leg] = []
        while len(found) % AT_ONCE == 0:
            names = [leg_id(run, number) for number in range(len(found) + 1, len(found) + AT_ONCE + 1)]
            marks = ", ".join("?" * AT_ONCE)
            rows = self._read(f"s.application_name = ? AND s.workflow_uuid IN ({marks})", self.application, *names)
            if not rows:
                break
            found += sorted(rows, key=lambda leg: leg.number)
        return found

    def newest(self, is_over: bool = False, most: int = 0) -> list[Leg]:
        """Return the newest leg of each run: of all unfinished runs, or of the newest `most` runs that have ended."""
        if not self.is_ready():
            return []
        ended = " OR ".join(f"""o.output LIKE '{{"state":"{word}"%'""" for word in ("complete", "stop", "canceled"))
        what = f"{'' if is_over else 'NOT '}COALESCE({ended}, FALSE)"
        order = f"ORDER BY s.created_at DESC{f' LIMIT {most}' if most else ''}"
        if not self.is_sqlite:
            what = what.replace("%", "%%")
        return self._read(f"s.application_name = ? AND {what} AND {LAST} {order}", self.application)[::-1]

    def expired(self, version: str) -> list[Leg]:
        """Return the newest legs of runs of a version that have waited too long for a person."""
        where = f"s.application_name = ? AND s.application_version = ? AND o.output LIKE ? AND {LAST}"
        found = self._read(where, self.application, version, '%"expires":%')
        return [leg for leg in found if leg.result.get("expires", float("inf")) < time.time()]

    def _read(self, where: str, *values: object) -> list[Leg]:
        columns = ", ".join(f"s.{column}" for column in ("workflow_uuid", *COLUMNS))
        query = f"SELECT {columns}, o.output FROM workflow_status s LEFT JOIN workflow_output o USING (workflow_uuid)"
        rows = self.rows(f"{query} WHERE s.name = '{LEG}' AND {where}", *values)
        return [leg_of(*row) for row in rows if re.fullmatch(rf"{RUN_NAME}\.[0-9]{{1,9}}", row[0])]

    def journal(self, run: str, number: int) -> tuple[list[Record], Table]:
        """Return the records of a run's first legs, and the input of its first leg."""
        names = [leg_id(run, each) for each in range(1, number + 1)]
        inputs: dict[str, str] = {}
        outputs: dict[str, list[str]] = {}
        for place in range(0, number, AT_ONCE):
            some = names[place : place + AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = "SELECT workflow_uuid, inputs FROM workflow_input WHERE workflow_uuid IN"
            inputs.update(self.rows(f"{query} ({marks})", *some))
            query = "SELECT workflow_uuid, output FROM operation_outputs WHERE output IS NOT NULL AND workflow_uuid IN"
            for name, output in self.rows(f"{query} ({marks}) ORDER BY workflow_uuid, function_id", *some):
                outputs.setdefault(name, []).append(output)
        given = [json.loads(inputs[name])["positionalArgs"][2] for name in names]
        records = []
        for name, each in zip(names, given, strict=True):
            said = (json.loads(json.loads(output)) for output in outputs.get(name, ()))
            records += [*each["records"], *(one["record"] for one in said if "record" in one)]
        kept = (record for record in records if record["kind"] != "process")  # another process may have its pid
        return [{"n": place, **record} for place, record in enumerate(kept)], given[0]

    def cancel(self, leg: Leg) -> None:
        """Cancel a leg, unless it has ended."""
        cleared = "owner_xid = NULL, queue_name = NULL, started_at_epoch_ms = NULL, updated_at = ?, completed_at = ?"
        query = f"UPDATE workflow_status SET status = 'CANCELLED', {cleared} WHERE workflow_uuid = ? AND status IN"
        with self.transaction() as cursor:
            values = (now_ms(), now_ms(), leg_id(leg.run, leg.number), *ACTIVE)
            cursor.execute(self.dialect(f"{query} (?, ?, ?)"), values)

    def queue_again(self, worker: str, queue: str, names: Sequence[str] = ()) -> int:
        """Queue the legs that a worker has, or some of them, and return how many.

        `resume_workflows` of DBOS would also queue legs that were canceled, or that another worker has by now.
        """
        some = f" AND workflow_uuid IN ({', '.join('?' * len(names))})" if names else ""
        what = "status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL, recovery_attempts = 0"
        query = f"UPDATE workflow_status SET {what}, queue_name = ?, updated_at = ? WHERE status = 'PENDING'"
        with self.transaction() as cursor:
            cursor.execute(self.dialect(f"{query} AND executor_id = ?{some}"), (queue, now_ms(), worker, *names))
            return int(cursor.rowcount)

    def forget(self, newest: Leg) -> None:
        """Delete a run with all its legs."""
        names = [leg_id(newest.run, number) for number in range(1, newest.number + 1)]
        with self.transaction() as cursor:
            for table in ("operation_outputs", "workflow_input", "workflow_output", "workflow_status"):
                query = self.dialect(f"DELETE FROM {table} WHERE workflow_uuid = ?")
                cursor.executemany(query, [(name,) for name in names])

    def lost(self, names: Sequence[str], worker: str) -> set[str]:
        """Return which legs a worker has lost: they were canceled, or another worker has taken them."""
        marks = ", ".join("?" * len(names))
        query = "SELECT workflow_uuid FROM workflow_status WHERE status = 'PENDING' AND executor_id = ?"
        kept = {row[0] for row in self.rows(f"{query} AND workflow_uuid IN ({marks})", worker, *names)}
        return {*names} - kept

    def workers(self) -> dict[str, int]:
        """Return the workers that have legs, and how many."""
        query = "SELECT executor_id, COUNT(*) FROM workflow_status WHERE status = 'PENDING' AND application_name = ?"
        rows = self.rows(f"{query} AND name = '{LEG}' GROUP BY executor_id", self.application)
        return {worker: count for worker, count in rows if re.fullmatch(WORKER_NAME, worker or "")}

    def others(self, run: str) -> int:
        """Return how many other runs are queued or running."""
        query = "SELECT COUNT(*) FROM workflow_status WHERE status IN (?, ?) AND application_name = ?"
        active: int = self.rows(f"{query} AND workflow_uuid <> ?", *ACTIVE[:2], self.application, leg_id(run, 1))[0][0]
        return active

    def queued(self) -> list[tuple[str, int, int]]:
        """Return the versions that queued legs need, how many legs those are, and since when they wait."""
        query = "SELECT application_version, COUNT(*), MIN(created_at) FROM workflow_status WHERE status = 'ENQUEUED'"
        rows = self.rows(f"{query} AND application_name = ? GROUP BY application_version", self.application)
        return [(version or "", count, since) for version, count, since in rows]


def leg_of(name: str, *columns: Any) -> Leg:  # values of `COLUMNS`, and the output
    """Return a row as a leg."""
    run, _, number = name.rpartition(".")
    status, worker, version, created, updated, due, output = columns
    result = json.loads(output) if output else {}
    return Leg(run, int(number), status, worker or "", version or "", created, updated or created, due or 0, result)
