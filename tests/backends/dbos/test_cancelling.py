"""Runs that an operator cancels, and workers that are asked to stop."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.workers.fleet import Fleet, group_is_gone, until
from tests.backends.dbos.documents import ASKS, STUBBORN, WAITS

CLEANS = "trap 'echo got >> signals; sleep 1.5; echo cleaned >> signals; exit {}' TERM\n"


@pytest.mark.parametrize("text", [pytest.param(WAITS, marks=pytest.mark.soak), STUBBORN], ids=["polite", "stubborn"])
def test_a_cancelled_run_ends_its_command_within_two_seconds(fleet: Fleet, text: str) -> None:
    fleet.compile(text)
    fleet.worker()
    fleet.start("r1")
    (group,) = map(int, until(lambda: fleet.lines("pids")))
    said = fleet.call("cancel", "r1", "--by", "ann", "--note", "wrong branch")
    assert (said.code, "r1 is canceled" in said.err) == (0, True)
    asked = time.monotonic()
    until(lambda: group_is_gone(group), 5)
    assert time.monotonic() - asked < 2.5  # two seconds, and a busy machine
    shown = fleet.call("status", "r1")
    assert shown.code == 1
    assert "ann: wrong branch" in shown.out
    assert fleet.call("list").out.splitlines()[1].split()[:2] == ["r1", "CANCELED"]
    again = fleet.call("cancel", "r1")
    assert (again.code, "has ended" in again.err) == (2, True)
    (fleet.folder / "go").touch()
    fleet.start("r2")
    fleet.until("r2", "complete")
    assert fleet.state("r1") == "canceled"


def test_waiting_and_queued_runs_are_cancelled(sqlite_fleet: Fleet) -> None:
    sqlite_fleet.compile(ASKS)
    sqlite_fleet.start("early")
    assert sqlite_fleet.state("early") == "queued"
    assert sqlite_fleet.call("cancel", "early", "--by", "bob").code == 0
    worker = sqlite_fleet.worker()
    sqlite_fleet.start("waits")
    sqlite_fleet.until("waits", "waiting")
    assert sqlite_fleet.call("cancel", "waits", "--by", "cid").code == 0
    for run, who in (("early", "by bob"), ("waits", "by cid")):
        shown = sqlite_fleet.call("status", run)
        assert (shown.code, who in shown.out) == (1, True), shown.out
        assert sqlite_fleet.state(run) == "canceled"
    assert sqlite_fleet.call("answer", "waits", "2", "yes").code == 2
    assert sqlite_fleet.lines("steps") == ["before"]
    assert "early" not in worker.text


def test_a_worker_that_stops_lets_its_step_end_and_hands_the_run_over(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    sqlite_fleet.compile(WAITS)
    worker = sqlite_fleet.worker()
    sqlite_fleet.start("r1")
    until(lambda: sqlite_fleet.lines("pids"))
    worker.send(signal.SIGTERM)
    worker.says("a second signal interrupts")
    (tmp_path / "go").touch()
    assert worker.process.wait(10) == 0
    assert sqlite_fleet.state("r1") == "queued"
    assert sqlite_fleet.lines("steps") == ["before", "waits"]
    assert "PASS  2 Waits" in sqlite_fleet.call("status", "r1").out
    assert sqlite_fleet.left() == []
    sqlite_fleet.worker()
    sqlite_fleet.until("r1", "complete")
    assert sqlite_fleet.lines("steps") == ["before", "waits", "after"]


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_second_signal_ends_the_command(sqlite_fleet: Fleet, number: signal.Signals) -> None:
    sqlite_fleet.compile(STUBBORN)
    worker = sqlite_fleet.worker()
    sqlite_fleet.start("r1")
    (group,) = map(int, until(lambda: sqlite_fleet.lines("pids")))
    worker.send(number)
    worker.says("a second signal interrupts")
    assert worker.process.poll() is None
    worker.send(number)
    until(lambda: group_is_gone(group), 15)  # ten seconds to clean up
    assert worker.process.wait(10) == 0
    assert sqlite_fleet.left() == []
    assert sqlite_fleet.state("r1") == "interrupted"
    assert sqlite_fleet.lines("steps") == ["before", "waits"]
    with suppress(ProcessLookupError):
        os.killpg(worker.process.pid, 0)
        pytest.fail("the group of the worker exists")


@pytest.mark.parametrize(("code", "state"), [(3, "interrupted"), pytest.param(0, "queued", marks=pytest.mark.soak)])
def test_a_command_gets_a_second_signal_once_with_time_to_clean_up(fleet: Fleet, code: int, state: str) -> None:
    """A failure after it is no FAIL, so nothing is retried; a success counts, and the run goes on elsewhere."""
    retried = WAITS.replace("\n## 3.", "\n- FAIL: RETRY 2 CONTINUE\n\n## 3.")
    fleet.compile(retried.replace("trap 'exit 143' TERM\n", CLEANS.format(code)))
    worker = fleet.worker()
    fleet.start("r1")
    until(lambda: fleet.lines("pids"))
    worker.send(signal.SIGTERM)
    worker.says("a second signal interrupts")
    worker.send(signal.SIGTERM)
    assert worker.process.wait(20) == 0
    assert (fleet.lines("signals"), fleet.lines("steps")) == (["got", "cleaned", "ended"], ["before", "waits"])
    assert fleet.state("r1") == state
