"""The rows of legs: takeovers, rows that rdc does not write, and workers that lose a leg or share a queue."""

import fcntl
import io
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.workers.fleet import group_is_gone, until
from runtime_shim.engine.display import Display
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.state import State
from runtime_shim.targets.dbos.engine import Duties, Metrics
from runtime_shim.targets.dbos.legs import Legs, Place
from runtime_shim.targets.dbos.steps import check_state, prepared
from runtime_shim.targets.dbos.worker import Parked, Worker
from tests.backends.dbos.documents import STUBBORN, WAITS
from tests.backends.dbos.fleet import WarmFleet
from tests.backends.dbos.forging import MINE, OTHER, add_run, ended, forge, legs_of, status_of, taken

pytestmark = pytest.mark.tool

ODD_RUNS = ("", "..", "../outside", "a/b", "-a", "\x1b[2J")
FULL = "SELECT RAISE(ABORT, 'database or disk is full')"
IS_FULL = f"CREATE TRIGGER is_full BEFORE UPDATE ON workflow_status BEGIN {FULL}; END"
BEGIN = {
    "kind": "begin", "node": "1", "condition": "ready", "registers": {"1 retries": 0, "name": None}, "program": "",
    "nodes": {}, "name": "", "source": "", "steps": [],
}  # fmt: skip


@pytest.fixture
def legs(queued: WarmFleet) -> Iterator[Legs]:
    with legs_of(queued) as found:
        yield found


def worker_of(legs: Legs) -> Worker:
    query = "SELECT queue_name, application_version FROM workflow_status WHERE workflow_uuid = 'r1.1'"
    ((queue, version),) = legs.rows(query)
    nothing: Any = None
    worker = Worker(legs, Place(queue, version), Duties(1, 1.0, False), Display(io.StringIO()), nothing)
    worker.metrics = Metrics("")
    return worker


def test_only_legs_that_a_worker_has_are_queued_again(queued: WarmFleet, legs: Legs) -> None:
    for run in ("canceled", "elsewhere", "runs"):
        add_run(legs, run)
    for run, worker in {"r1": MINE, "canceled": MINE, "runs": MINE, "elsewhere": OTHER}.items():
        taken(queued, f"{run}.1", worker)
    legs.cancel(legs.of_run("canceled")[0])
    assert legs.queue_again(MINE, "some-queue", ["r1.1", "elsewhere.1"]) == 1, "of those that are parked"
    assert [status_of(legs, run)[0][0] for run in ("r1", "runs")] == ["ENQUEUED", "PENDING"]
    taken(queued, "r1.1", MINE)
    assert legs.queue_again(MINE, "some-queue") == 2, "all of a dead worker"
    assert [status_of(legs, run)[0][0] for run in ("r1", "runs")] == ["ENQUEUED", "ENQUEUED"]
    assert status_of(legs, "canceled") == [("CANCELLED", MINE)]
    assert status_of(legs, "elsewhere") == [("PENDING", OTHER)]


def test_a_parked_leg_is_queued_when_the_disk_has_space_again(queued: WarmFleet, legs: Legs) -> None:
    worker = worker_of(legs)
    taken(queued, "r1.1", worker.name)
    with pytest.raises(Parked), worker.parking("r1.1"):
        raise OSError(28, "No space left on device")
    forge(queued, IS_FULL)
    for _ in range(2):
        with pytest.raises(UsageError, match="no space is left"):
            worker._go_round()
    forge(queued, "DROP TRIGGER is_full")
    worker._go_round()
    assert [status for status, _ in status_of(legs, "r1")] == ["ENQUEUED"]
    taken(queued, "r1.1", worker.name)
    worker._go_round()
    assert [status for status, _ in status_of(legs, "r1")] == ["PENDING"]  # it runs again


def test_workers_with_names_that_no_worker_has_are_left_alone(queued: WarmFleet, legs: Legs) -> None:
    (queued.folder / "precious").touch()
    worker = worker_of(legs)
    for number, name in enumerate(("../precious", "a/b:1:00000001", "", "version-1")):
        add_run(legs, f"odd{number}")
        taken(queued, f"odd{number}.1", name)
    taken(queued, "r1.1", MINE)
    assert legs.workers() == {MINE: 1}
    worker._go_round()
    assert (queued.folder / "precious").exists()
    assert [status for status, _ in status_of(legs, "r1")] == ["ENQUEUED"]
    assert status_of(legs, "odd0") == [("PENDING", "../precious")]


def test_a_worker_with_a_lease_keeps_its_legs(queued: WarmFleet, legs: Legs) -> None:
    leases = queued.folder / "runs.sqlite.workers"
    leases.mkdir(mode=0o700)
    taken(queued, "r1.1", MINE)
    with (leases / MINE).open("w") as lease:
        fcntl.flock(lease, fcntl.LOCK_EX)
        worker_of(legs)._go_round()
        assert status_of(legs, "r1") == [("PENDING", MINE)]
    worker_of(legs)._go_round()
    assert status_of(legs, "r1")[0][0] == "ENQUEUED"
    assert not (leases / MINE).exists()


def test_prune_deletes_nothing_outside_the_folder_of_a_run(queued: WarmFleet, legs: Legs) -> None:
    for name in (".rdc/job/r1/log", ".rdc/job/other/log", ".rdc/outside/log", "precious"):
        (queued.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (queued.folder / name).touch()
    ended(queued, "r1.1", {"state": "complete"})
    for run in ODD_RUNS:
        add_run(legs, run, result={"state": "complete"})
    for words in ([], ["--older-than", "soon"]):
        assert queued.call("prune", *words).code == 2
    assert queued.call("prune", "--older-than", "1h").out == "Deleted 0 runs.\n"
    forge(queued, "UPDATE workflow_status SET updated_at = updated_at - 7200000")
    assert queued.expect(0, "", "prune", "--older-than", "1h").out == "Deleted 1 run.\n"
    left = {path: (queued.folder / ".rdc/job" / path).exists() for path in ("other", "../outside", "../../precious")}
    assert (all(left.values()), (queued.folder / ".rdc/job/r1").exists()) == (True, False), left


def test_lists_have_no_runs_with_odd_names_and_no_controls(queued: WarmFleet, legs: Legs) -> None:
    for run in ODD_RUNS:
        add_run(legs, run)
    result = {"step": "1", "label": "a\x1b[31mb\r\x9b1mc", "message": "d\x1b[2Je"}
    add_run(legs, "r2", result={"state": "wa\x1b[2Jiting", **result})
    add_run(legs, "r3", result={"state": "waiting", **result, "message": ""})
    add_run(legs, "r4", result={"state": "refused", **result})
    reply = queued.call("list")
    assert sorted(line.split()[0] for line in reply.out.splitlines()[1:]) == ["r1", "r2", "r3", "r4"]
    for text in (reply.text, *(queued.call("status", run).text for run in ("r2", "r3", "r4"))):
        assert text
        assert not {"\x1b", "\r", "\x9b"} & {*text}, text


@pytest.mark.parametrize("run", [*ODD_RUNS, "a" * 101])
def test_a_helper_refuses_odd_names_of_runs(tmp_path: Path, run: str) -> None:
    nothing: Any = None
    with pytest.raises(UsageError, match="the run has a name that rdc does not write"):
        prepared(nothing, nothing, str(tmp_path / "a" / "b"), {"run": run, "records": []})
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "changed",
    [
        {"registers": {"1 retries": "0; touch hacked", "name": None}}, {"registers": {"1 retries": True, "name": None}},
        {"registers": {"1 retries": None, "name": None}}, {"registers": {"1 retries": 0, "name": 1}},
        {"registers": {"1 retries": 0}}, {"registers": {"1 retries": 0, "name": None, "more": 0}}, {"node": "2"},
    ],
)  # fmt: skip
def test_a_helper_refuses_states_that_its_program_cannot_have(changed: dict[str, Any]) -> None:
    program: dict[str, Any] = {"nodes": {"1": {}, "STOP": {}}, "registers": {"1 retries": 1, "name": None}}
    session: Any = SimpleNamespace(program=program, is_same=lambda _state: True)
    check_state(session, State([BEGIN]))
    with pytest.raises(UsageError, match="damaged, or someone has changed them"):
        check_state(session, State([{**BEGIN, **changed}]))


def test_recorded_processes_are_ignored(queued: WarmFleet, legs: Legs) -> None:
    """The pid may be that of another process, which must not be ended."""
    process = {"kind": "process", "node": "1", "pid": 4711, "since": 1}
    running = {"kind": "resume", "condition": "running", "time": "2026-11-27T13:25:22.005651Z"}
    ended(queued, "r1.1", {"state": "interrupted", "step": "1"}, running, process)
    records, _ = legs.journal("r1", 1)
    assert [(record["n"], record["kind"]) for record in records] == [(0, "begin"), (1, "resume")]


QUEUED = "UPDATE workflow_status SET status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL"


@pytest.mark.soak
def test_a_worker_that_loses_legs_ends_their_commands_and_stops_at_once(sqlite_fleet: WarmFleet) -> None:
    worker = sqlite_fleet.begun(STUBBORN)  # its helper needs some time to end
    (group,) = map(int, sqlite_fleet.lines("pids"))
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


def gets_it_again(fleet: WarmFleet, group: int) -> None:
    """Let a worker lose the run r1 and get it again: the second execution finds that a step was interrupted."""
    forge(fleet, f"{QUEUED} WHERE workflow_uuid = 'r1.1'")
    fleet.until("r1", "interrupted", seconds=10)
    assert group_is_gone(group)
    assert fleet.lines("steps") == ["before", "waits"]
    assert [one["step"] for one in json.loads(fleet.call("status", "r1", "--json").out)["finished"]] == ["1"]


@contextmanager
def another_gets_it(fleet: WarmFleet) -> Iterator[None]:
    """Let a living worker take the run r2 at the moment when its command ends."""
    with (fleet.folder / "runs.sqlite.workers" / OTHER).open("w") as lease:
        fcntl.flock(lease, fcntl.LOCK_EX)
        taken(fleet, "r2.1", OTHER)
        (fleet.folder / "go").touch()
        yield


@pytest.mark.soak
@pytest.mark.parametrize(("jobs", "of_another"), [(1, 6), (3, 1)])
def test_each_worker_has_its_own_number_of_jobs(
    sqlite_fleet: WarmFleet, tmp_path: Path, jobs: int, of_another: int
) -> None:
    sqlite_fleet.compile(WAITS)
    sqlite_fleet.worker("--jobs", str(jobs))
    assert sqlite_fleet.worker("--jobs", str(of_another)).stop() == 0
    sqlite_fleet.start("r1")
    with legs_of(sqlite_fleet) as legs:
        for number in range(jobs):
            add_run(legs, f"r{number + 2}")
    until(lambda: len(sqlite_fleet.lines("pids")) == jobs)
    time.sleep(0.5)  # ten looks at the queue
    assert len(sqlite_fleet.lines("pids")) == jobs
    (tmp_path / "go").touch()
    sqlite_fleet.until(f"r{jobs + 1}", "complete")


@pytest.mark.soak
def test_a_run_whose_step_could_not_be_recorded_is_complete_later(sqlite_fleet: WarmFleet, tmp_path: Path) -> None:
    worker = sqlite_fleet.begun(WAITS)
    assert sqlite_fleet.state("r1") == "running"
    forge(sqlite_fleet, IS_FULL)
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
def test_a_run_is_adopted_beside_a_worker_of_the_old_version(sqlite_fleet: WarmFleet, tmp_path: Path) -> None:
    old = sqlite_fleet.begun(WAITS)
    (group,) = map(int, sqlite_fleet.lines("pids"))
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
