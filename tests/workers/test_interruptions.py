"""Workers, helpers and servers of helpers that are killed in a step (R2)."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.workers.fleet import Fleet, WorkerProcess, until
from tests.workers.documents import WAITS


def begun(fleet: Fleet, *options: str) -> WorkerProcess:
    """Start a worker and a run, and wait until the run is in its second step."""
    fleet.compile(WAITS)
    worker = fleet.worker(*options)
    fleet.start("r1")
    until(lambda: fleet.lines("pids"))
    return worker


def group_is_gone(group: int) -> bool:
    """Return whether no process of a group exists."""
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        return False
    return True


def children(pid: int) -> list[int]:
    """Return the children of a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def test_a_step_of_a_killed_worker_is_not_repeated(fleet: Fleet) -> None:
    worker = begun(fleet)
    (group,) = map(int, fleet.lines("pids"))
    worker.kill()
    killed = time.monotonic()
    until(lambda: group_is_gone(group), 3)
    until(lambda: not fleet.left(), 3)
    other = fleet.worker()
    other.says("took over 1 leg", 10)
    fleet.until("r1", "interrupted", seconds=10)
    assert time.monotonic() - killed < 10 + 2  # the start of a worker is not part of it
    assert fleet.lines("steps") == ["before", "waits"]
    shown = fleet.call("status", "r1")
    assert shown.code == 75
    assert "INTERRUPTED at 2 Waits" in shown.out
    assert [line.split("answer ")[1] for line in shown.out.splitlines() if "answer " in line] == [
        "r1 2 rerun", "r1 2 pass", "r1 2 fail",
    ]  # fmt: skip
    assert fleet.call("answer", "r1", "2", "maybe").code == 2
    assert fleet.call("answer", "r1", "2", "pass", "--by", "ann").code == 0
    fleet.until("r1", "complete")
    assert fleet.lines("steps") == ["before", "waits", "after"]
    assert "by ann" in fleet.call("status", "r1").out


@pytest.mark.soak
def test_an_interrupted_step_is_repeated_if_a_person_says_so(fleet: Fleet, tmp_path: Path) -> None:
    begun(fleet).kill()
    fleet.worker()
    fleet.until("r1", "interrupted", seconds=12)
    (tmp_path / "go").touch()
    assert fleet.call("answer", "r1", "2", "rerun").code == 0
    fleet.until("r1", "complete")
    assert fleet.lines("steps") == ["before", "waits", "waits", "after"]


@pytest.mark.soak
def test_an_interrupted_step_fails_if_a_person_says_so(sqlite_fleet: Fleet) -> None:
    begun(sqlite_fleet).kill()
    sqlite_fleet.worker()
    sqlite_fleet.until("r1", "interrupted", seconds=12)
    assert sqlite_fleet.call("answer", "r1", "2", "fail", "--note", "saw it").code == 0
    assert sqlite_fleet.state("r1") == "stop"
    shown = sqlite_fleet.call("status", "r1")
    assert (shown.code, "FAIL  2 Waits" in shown.out, "saw it" in shown.out) == (1, True, True)
    assert sqlite_fleet.lines("steps") == ["before", "waits"]


@pytest.mark.soak
def test_a_worker_repeats_the_step_of_a_killed_one(fleet: Fleet, tmp_path: Path) -> None:
    worker = begun(fleet)
    fleet.worker("--interrupted", "rerun")
    worker.kill()
    killed = time.monotonic()
    until(lambda: len(fleet.lines("pids")) == 2, 10)
    assert time.monotonic() - killed < 10
    first, _second = map(int, fleet.lines("pids"))
    assert group_is_gone(first)
    (tmp_path / "go").touch()
    fleet.until("r1", "complete")
    assert fleet.lines("steps") == ["before", "waits", "waits", "after"]


@pytest.mark.soak
def test_a_killed_helper_interrupts_its_step_only(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    worker = begun(sqlite_fleet)
    (group,) = map(int, sqlite_fleet.lines("pids"))
    (server,) = children(worker.process.pid)
    (helper,) = children(server)
    os.kill(helper, signal.SIGKILL)
    sqlite_fleet.until("r1", "interrupted", seconds=5)
    (done,) = json.loads(sqlite_fleet.call("status", "r1", "--json").out)["finished"]
    assert done["step"] == "1"
    (tmp_path / "go").touch()
    sqlite_fleet.start("r2")
    sqlite_fleet.until("r2", "complete")
    assert sqlite_fleet.call("answer", "r1", "2", "rerun").code == 0
    sqlite_fleet.until("r1", "complete")
    until(lambda: group_is_gone(group), 1)


@pytest.mark.soak
def test_a_worker_whose_server_of_helpers_was_killed_hands_its_runs_over(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    worker = begun(sqlite_fleet)
    (server,) = children(worker.process.pid)
    (group,) = map(int, sqlite_fleet.lines("pids"))
    os.kill(server, signal.SIGKILL)
    (tmp_path / "go").touch()
    sqlite_fleet.until("r1", "complete")  # its helper is alive
    sqlite_fleet.start("r2")
    time.sleep(1)
    if worker.process.poll() is None:
        worker.stop()
    sqlite_fleet.worker()
    assert sqlite_fleet.until("r2", "complete", "interrupted", seconds=10) == "complete"
    assert group_is_gone(group)
