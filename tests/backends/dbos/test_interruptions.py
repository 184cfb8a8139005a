"""Workers, helpers and servers of helpers that are killed in a step (R2), and workers that are asked to stop."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.workers.fleet import Fleet, WorkerProcess, group_is_gone, until
from tests.backends.dbos.documents import STUBBORN, WAITS
from tests.support.makefiles import children

pytestmark = pytest.mark.process


def begun(fleet: Fleet, *options: str) -> WorkerProcess:
    """Start a worker and a run, and wait until the run is in its second step."""
    fleet.compile(WAITS)
    worker = fleet.worker(*options)
    fleet.start("r1")
    until(lambda: fleet.lines("pids"))
    return worker


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
@pytest.mark.parametrize(
    ("decision", "state", "last"), [("rerun", "complete", ["waits", "after"]), ("fail", "stop", [])]
)
def test_a_person_decides_about_an_interrupted_step(
    fleet: Fleet, tmp_path: Path, decision: str, state: str, last: list[str]
) -> None:
    begun(fleet).kill()
    fleet.worker()
    fleet.until("r1", "interrupted", seconds=12)
    (tmp_path / "go").touch()
    assert fleet.call("answer", "r1", "2", decision, "--note", "saw it").code == 0
    fleet.until("r1", state)
    shown = fleet.call("status", "r1")
    assert ("FAIL  2 Waits" in shown.out, "saw it" in shown.out) == (decision == "fail", True), shown.out
    assert fleet.lines("steps") == ["before", "waits", *last]


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


# --- Workers that are asked to stop -----------------------------------------------------------------------------------

CLEANS = "trap 'echo got >> signals; sleep 0.5; echo cleaned >> signals; exit {}' TERM\n"


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
