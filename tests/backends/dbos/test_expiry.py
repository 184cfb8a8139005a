"""Runs at workers that wait too long for a person (O-9)."""

from __future__ import annotations

import signal
import time

from benchmarks.workers.fleet import Fleet
from tests.backends.dbos.documents import ASKS


def test_the_clock_of_the_worker_decides_without_a_call(fleet: Fleet) -> None:
    fleet.compile(ASKS)
    fleet.worker()
    fleet.call("start", "--id", "r1", "--expire", "1s")
    fleet.call("start", "--id", "r2", "--expire", "1h")
    fleet.until("r2", "waiting")
    fleet.until("r1", "stop")
    assert fleet.state("r2") == "waiting"
    assert "expired after 1.0 s" in fleet.call("status", "r1").out
    assert fleet.call("answer", "r1", "2", "yes").code == 2


def test_who_answers_after_the_time_is_refused_where_no_worker_runs(sqlite_fleet: Fleet) -> None:
    sqlite_fleet.compile(ASKS)
    worker = sqlite_fleet.worker()
    sqlite_fleet.call("start", "--id", "r1", "--expire", "3s")
    sqlite_fleet.until("r1", "waiting")
    worker.send(signal.SIGTERM)
    assert worker.process.wait(20) == 0
    time.sleep(3)
    refused = sqlite_fleet.call("answer", "r1", "2", "yes")
    assert (refused.code, "no step is waiting for an answer" in refused.err) == (2, True), refused.text
