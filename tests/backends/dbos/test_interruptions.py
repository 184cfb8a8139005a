"""Workers, helpers and servers of helpers that are killed in a step (R2)."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from benchmarks.workers.fleet import Fleet, WorkerProcess, group_is_gone, until
from tests.backends.dbos.documents import WAITS


def begun(fleet: Fleet, *options: str) -> WorkerProcess:
    """Start a worker and a run, and wait until the run is in its second step."""
    fleet.compile(WAITS)
    worker = fleet.worker(*options)
    fleet.start("r1")
    until(lambda: fleet.lines("pids"))
    return worker


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
    until(lambda: group_is_gone(group), 3)
    until(lambda: not fleet.left(), 3)
    fleet.worker().says("took over 1 run", 10)
    fleet.until("r1", "interrupted", seconds=10)
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
    sqlite_fleet.until("r1", "stop")
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
def test_a_worker_whose_server_of_helpers_was_killed_ends(sqlite_fleet: Fleet) -> None:
    worker = begun(sqlite_fleet)
    (server,) = children(worker.process.pid)
    (group,) = map(int, sqlite_fleet.lines("pids"))
    sqlite_fleet.start("r2")
    os.kill(server, signal.SIGKILL)
    assert worker.process.wait(10) == 2
    assert "the process that starts helpers ended" in worker.text
    assert group_is_gone(group)
    assert sqlite_fleet.left() == []


@pytest.mark.soak
def test_an_error_of_a_worker_is_not_the_error_of_a_run(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    """A run that a worker could not start because it had no server of helpers is complete at the next worker."""
    sqlite_fleet.compile(WAITS)
    (tmp_path / "go").touch()
    worker = sqlite_fleet.worker()
    (server,) = children(worker.process.pid)
    worker.send(signal.SIGSTOP)
    os.kill(server, signal.SIGKILL)
    sqlite_fleet.start("r1")
    time.sleep(0.3)
    worker.send(signal.SIGCONT)
    assert worker.process.wait(10) == 2
    sqlite_fleet.worker()
    sqlite_fleet.until("r1", "complete", seconds=10)
    assert sqlite_fleet.lines("steps") == ["before", "waits", "after"]
