"""Rows that rdc never writes, or that someone writes at a bad moment, in the SQLite file of a fleet."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from benchmarks.workers.fleet import Fleet
from runtime_shim.targets.dbos.legs import Leg, Legs, Place

MINE, OTHER = "here:1:00000001", "there:1:00000002"
"""Names of workers that do not run."""

Change = Callable[[dict[str, Any]], dict[str, Any]]

INSERTED = "INSERT INTO operation_outputs (workflow_uuid, function_id, function_name, output) VALUES"


def forge(fleet: Fleet, query: str, *values: object) -> None:
    with closing(sqlite3.connect(fleet.url.partition("///")[2], timeout=20, isolation_level=None)) as connection:
        connection.execute(query, values)


@contextmanager
def legs_of(fleet: Fleet, run: str = "r1") -> Iterator[Legs]:
    ((application,),) = fleet.rows(f"SELECT application_name FROM workflow_status WHERE workflow_uuid = '{run}.1'")
    legs = Legs(fleet.url, application)
    yield legs
    legs.close()


def add_run(legs: Legs, run: str, change: Change = dict, result: Any = None, like: str = "r1") -> None:
    """Add a run whose first record is that of another, changed. A run with a result has ended."""
    query = f"SELECT queue_name, application_version FROM workflow_status WHERE workflow_uuid = '{like}.1'"
    ((queue, version),) = legs.rows(query)
    (begin, *_), _ = legs.journal(like, 1)
    record = change({key: value for key, value in begin.items() if key != "n"})
    given = {"records": [{**record, "run": run}], "step": record["node"]}
    assert legs.enqueue(run, 1, given, Place(queue, version), result=result or {})


def taken(fleet: Fleet, leg: str, worker: str) -> None:
    query = "UPDATE workflow_status SET status = 'PENDING', executor_id = ?, owner_xid = ? WHERE workflow_uuid = ?"
    forge(fleet, query, worker, worker, leg)


def ended(fleet: Fleet, leg: str, result: dict[str, Any], *records: dict[str, Any]) -> None:
    """Let a worker have recorded steps of a leg, and its end."""
    forge(fleet, "UPDATE workflow_status SET status = 'SUCCESS', executor_id = ? WHERE workflow_uuid = ?", MINE, leg)
    for number, record in enumerate(records, 1):
        forge(fleet, f"{INSERTED} (?, ?, 'step', ?)", leg, number, output({"record": record}))
    query = "INSERT INTO workflow_output (workflow_uuid, output, retention_timestamp) VALUES (?, ?, 0)"
    forge(fleet, query, leg, json.dumps(result, separators=(",", ":")))


def output(message: dict[str, Any]) -> str:
    """Return a message of a helper as the output of a step."""
    return json.dumps(json.dumps(message))


def status_of(legs: Legs, run: str) -> list[tuple[str, str]]:
    found: list[Leg] = legs.of_run(run)
    return [(leg.status, leg.worker) for leg in found]
