"""Workers that lose a leg, get one again, or share a queue with workers that have other limits."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.workers.fleet import Fleet, group_is_gone, until
from tests.backends.dbos.documents import STUBBORN, WAITS
from tests.backends.dbos.forging import OTHER, add_run, forge, legs_of, status_of, taken

pytestmark = pytest.mark.tool

QUEUED = "UPDATE workflow_status SET status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL"


@pytest.mark.soak
def test_a_worker_that_loses_legs_ends_their_commands_and_stops_at_once(sqlite_fleet: Fleet) -> None:
    sqlite_fleet.compile(STUBBORN)  # its helper needs some time to end
    worker = sqlite_fleet.worker()
    sqlite_fleet.start("r1")
    (group,) = map(int, until(lambda: sqlite_fleet.lines("pids")))
    with legs_of(sqlite_fleet) as legs:
        gets_it_again(sqlite_fleet, group)
        add_run(legs, "r2")
        (group,) = map(int, until(lambda: sqlite_fleet.lines("pids")[1:]))
        with another_gets_it(sqlite_fleet):
            until(lambda: group_is_gone(group), 4)
            asked = time.monotonic()
            assert worker.stop() == 0
            assert time.monotonic() - asked < 3
            assert status_of(legs, "r2") == [("PENDING", OTHER)]
    assert sqlite_fleet.lines("steps") == ["before", "waits"] * 2


def gets_it_again(fleet: Fleet, group: int) -> None:
    """Let a worker lose the run r1 and get it again: the second execution finds that a step was interrupted."""
    forge(fleet, f"{QUEUED} WHERE workflow_uuid = 'r1.1'")
    fleet.until("r1", "interrupted", seconds=10)
    assert group_is_gone(group)
    assert fleet.lines("steps") == ["before", "waits"]
    facts = json.loads(fleet.call("status", "r1", "--json").out)
    assert [one["step"] for one in facts["finished"]] == ["1"]


@contextmanager
def another_gets_it(fleet: Fleet) -> Iterator[None]:
    """Let a living worker take the run r2 at the moment when its command ends."""
    with (fleet.folder / "runs.sqlite.workers" / OTHER).open("w") as lease:
        fcntl.flock(lease, fcntl.LOCK_EX)
        taken(fleet, "r2.1", OTHER)
        (fleet.folder / "go").touch()
        yield


@pytest.mark.soak
def test_each_worker_has_its_own_number_of_jobs(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    sqlite_fleet.compile(WAITS)
    sqlite_fleet.worker("--jobs", "1")
    assert sqlite_fleet.worker("--jobs", "6").stop() == 0
    sqlite_fleet.start("r1")
    with legs_of(sqlite_fleet) as legs:
        add_run(legs, "r2")
    until(lambda: sqlite_fleet.lines("pids"))
    time.sleep(0.5)  # ten looks at the queue
    assert len(sqlite_fleet.lines("pids")) == 1
    (tmp_path / "go").touch()
    for run in ("r1", "r2"):
        sqlite_fleet.until(run, "complete")


@pytest.mark.soak
def test_a_worker_uses_all_its_jobs_beside_one_with_fewer(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    sqlite_fleet.compile(WAITS)
    sqlite_fleet.worker("--jobs", "3")
    assert sqlite_fleet.worker("--jobs", "1").stop() == 0
    sqlite_fleet.start("r1")
    with legs_of(sqlite_fleet) as legs:
        for run in ("r2", "r3", "r4"):
            add_run(legs, run)
    until(lambda: len(sqlite_fleet.lines("pids")) == 3)
    time.sleep(0.5)
    assert len(sqlite_fleet.lines("pids")) == 3
    (tmp_path / "go").touch()
    sqlite_fleet.until("r4", "complete")


@pytest.mark.soak
def test_a_run_whose_step_could_not_be_recorded_is_complete_later(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    sqlite_fleet.compile(WAITS)
    worker = sqlite_fleet.worker()
    sqlite_fleet.start("r1")
    until(lambda: sqlite_fleet.lines("pids"))
    assert sqlite_fleet.state("r1") == "running"
    forge(sqlite_fleet, "CREATE TRIGGER is_full BEFORE UPDATE ON workflow_status "
                        "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END")  # fmt: skip
    forge(sqlite_fleet, "ALTER TABLE operation_outputs RENAME TO hidden")
    (tmp_path / "go").touch()
    worker.says("run r1 will be tried again", 10)
    worker.says("no space is left", 10)
    time.sleep(2.5)  # another round
    assert sqlite_fleet.state("r1") == "running"
    forge(sqlite_fleet, "ALTER TABLE hidden RENAME TO operation_outputs")
    forge(sqlite_fleet, "DROP TRIGGER is_full")
    sqlite_fleet.until("r1", "interrupted", seconds=15)
    assert sqlite_fleet.call("answer", "r1", "2", "pass").code == 0
    sqlite_fleet.until("r1", "complete")
    assert sqlite_fleet.lines("steps") == ["before", "waits", "after"]


@pytest.mark.soak
def test_a_run_is_adopted_beside_a_worker_of_the_old_version(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    sqlite_fleet.compile(WAITS)
    old = sqlite_fleet.worker()
    sqlite_fleet.start("r1")
    (group,) = map(int, until(lambda: sqlite_fleet.lines("pids")))
    sqlite_fleet.compile(WAITS.replace("echo after", "echo later"))
    assert sqlite_fleet.call("resume", "r1", "--adopt").code == 0
    until(lambda: group_is_gone(group), 4)
    sqlite_fleet.worker()
    sqlite_fleet.until("r1", "interrupted", seconds=10)
    facts = json.loads(sqlite_fleet.call("status", "r1", "--json").out)
    assert [one["step"] for one in facts["finished"]] == ["1"]
    (tmp_path / "go").touch()
    assert sqlite_fleet.call("answer", "r1", "2", "rerun").code == 0
    sqlite_fleet.until("r1", "complete")
    assert sqlite_fleet.lines("steps") == ["before", "waits", "waits", "later"]
    assert old.stop() == 0
