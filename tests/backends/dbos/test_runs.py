"""A run from its start to its end as an operator sees it, and workers and helpers that are killed or stopped (R2)."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from benchmarks.workers.fleet import group_is_gone, until
from tests.backends.dbos.documents import STUBBORN, WAITS, WORK
from tests.backends.dbos.fleet import WarmFleet
from tests.backends.dbos.forging import add_run, legs_of
from tests.support.makefiles import children
from tests.support.process import CLOCK

pytestmark = pytest.mark.process


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest) -> Iterator[WarmFleet]:
    if request.param == "sqlite":
        yield request.getfixturevalue("serving")
        return
    with WarmFleet(request.getfixturevalue("tmp_path"), request.getfixturevalue("postgres_database")) as fleet:
        fleet.compile(WORK)
        fleet.worker()
        yield fleet


def test_a_run_waits_for_a_person_and_goes_on(either: WarmFleet, tmp_path: Path) -> None:
    fleet, folder, elsewhere = either, either.folder, tmp_path / "elsewhere"
    elsewhere.mkdir()
    started = fleet.call("start", "--id", "w1", "--wait")
    assert (started.code, started.out) == (75, "")
    assert "w1 WAITING 2 Check" in started.err
    shown = fleet.call("status", "w1")
    assert shown.code == 75
    assert re.sub(r"[0-9.]+ s at|[-0-9]{10} [:0-9]{8} UTC", "…", shown.out).splitlines()[:6] == [
        "Work (job.runbook.md)", "run w1, since …", "WAITING at 2 Check", "", "  PASS  1 Before, … …", "",
    ]  # fmt: skip
    assert "worker.py answer w1 2 yes" in shown.out
    assert ["w1", "WAITING"] in [line.split()[:2] for line in fleet.call("list", "--waiting").out.splitlines()]
    row = listed(fleet, "w1", "--waiting")
    assert (row["state"], row["step"], row["worker"]) == ("waiting", "2", None)

    answered = fleet.call("answer", "w1", "2", "yes", "--by", "ann", "--note", "looks good")
    assert (answered.code, "w1 2 Check: YES" in answered.err) == (0, True)
    until((folder / "w1.pids").exists)
    assert fleet.call("status", "w1").code == 3
    assert json.loads(fleet.call("status", "w1", "--json").out)["worker"].split(":")[1].isdecimal()
    assert not listed(fleet, "w1", "--waiting")
    assert listed(fleet, "w1")["state"] == "running"

    (folder / "w1.go").touch()
    fleet.until("w1", "complete")
    shown = fleet.call("status", "w1", folder=elsewhere)
    assert (shown.code, "COMPLETE" in shown.out) == (0, True)
    assert "by ann: looks good" in shown.out
    done = json.loads(fleet.call("status", "w1", "--json", folder=elsewhere).out)["finished"]
    assert [one["outcome"] for one in done] == ["pass", "pass", "fail", "pass", "pass"]
    assert done[1]["time"].endswith("Z")
    assert done[2]["output"] == "to the east\nno such host: \\e[31meast\n"
    assert fleet.lines("w1.steps") == ["before", "after"]


def listed(fleet: WarmFleet, run: str, *words: str) -> dict[str, Any]:
    return next((row for row in json.loads(fleet.call("list", "--json", *words).out) if row["run"] == run), {})


@pytest.mark.soak
def test_the_end_of_a_failed_commands_output_is_shown_on_another_machine(
    sqlite_fleet: WarmFleet, tmp_path: Path
) -> None:
    document = "# A\n\n## 1. B\n\n```bash\nseq 5000; printf 'no such \\033[31mhost\\n' >&2; exit 4\n```\n"
    sqlite_fleet.begun(document, "stop")
    (tmp_path / "elsewhere").mkdir()
    shown = sqlite_fleet.call("status", "r1", folder=tmp_path / "elsewhere")
    assert (shown.code, "| no such " in shown.out, "\033" in shown.out) == (1, True, False), shown.out
    (done,) = json.loads(sqlite_fleet.call("status", "r1", "--json").out)["finished"]
    assert len(done["output"].encode()) == 4096


@pytest.mark.parametrize("count", [3, pytest.param(20, marks=pytest.mark.soak)])
def test_of_many_answers_in_one_moment_one_is_taken(serving: WarmFleet, count: int) -> None:
    run = f"m{count}"
    (serving.folder / f"{run}.go").touch()
    serving.start(run)
    serving.until(run, "waiting")
    replies = serving.at_once(count, "answer", run, "2", "yes", "--by", "person-NUMBER")
    taken = [number for number, each in enumerate(replies) if each.code == 0]
    assert len(taken) == 1, replies
    serving.until(run, "complete")
    assert f"by person-{taken[0]}" in serving.call("status", run).out
    refused = [each.err for each in replies if each.code]
    reasons = (f"answered or moved {run} first", "wait, or cancel it", f"{run} has ended", "no step is waiting")
    assert all(any(reason in text for reason in reasons) for text in refused), refused
    serving.expect(2, "error: no step is waiting", "answer", run, "2", "yes")
    assert serving.lines(f"{run}.steps") == ["before", "after"]


def test_a_waiting_run_is_moved(serving: WarmFleet) -> None:
    serving.start("g1")
    serving.until("g1", "waiting")
    assert serving.call("goto", "g1", "7").code == 2
    assert serving.call("goto", "g1", "5", "--by", "ann", "--note", "known to be fine").code == 0
    serving.until("g1", "complete")
    assert serving.lines("g1.steps") == ["before", "after"]
    assert "ann: known to be fine" in serving.call("status", "g1").out
    serving.expect(2, "complete", "goto", "g1", "1")


def test_a_waiting_run_is_canceled_and_not_retried(serving: WarmFleet) -> None:
    serving.start("c2")
    serving.until("c2", "waiting")
    serving.expect(2, "the run is waiting; to continue: ", "retry", "c2")
    assert serving.call("cancel", "c2", "--by", "cid").code == 0
    serving.expect(1, "by cid", "status", "c2")
    assert (serving.state("c2"), serving.call("answer", "c2", "2", "yes").code) == ("canceled", 2)
    serving.expect(2, "canceled; to start a new run: ", "retry", "c2")
    assert serving.lines("c2.steps") == ["before"]


def test_a_cancelled_run_ends_its_command_within_two_seconds(serving: WarmFleet) -> None:
    serving.start("c1")
    serving.until("c1", "waiting")
    assert serving.call("answer", "c1", "2", "yes").code == 0
    (group,) = map(int, until(lambda: serving.lines("c1.pids")))
    serving.expect(2, "c1 is running", "goto", "c1", "5")
    serving.expect(0, "c1 is canceled", "cancel", "c1", "--by", "ann", "--note", "wrong branch")
    asked = time.monotonic()
    until(lambda: group_is_gone(group), 5)
    assert time.monotonic() - asked < 2.5  # two seconds, and a busy machine
    serving.expect(1, "ann: wrong branch", "status", "c1")
    assert listed(serving, "c1")["state"] == "canceled"
    serving.expect(2, "has ended", "cancel", "c1")
    assert serving.lines("c1.steps") == ["before"]


def test_the_clock_of_the_worker_decides_without_a_call(serving: WarmFleet, tmp_path: Path) -> None:
    serving.call("start", "--id", "e1", "--expire", "1s")
    serving.call("start", "--id", "e2", "--expire", "1h")
    serving.until("e2", "waiting")
    serving.until("e1", "stop")
    assert "expired after 1.0 s" in serving.call("status", "e1").out
    assert serving.call("answer", "e1", "2", "yes").code == 2

    script, later = serving.script, tmp_path / "worker.py"
    later.write_text(script.read_text().replace("\nimport ", f"\n{CLOCK}import ", 1))
    (tmp_path / "ahead").write_text("3601")
    serving.script = later  # the answer comes later than the worker knows
    serving.expect(2, "2 ended with NO, expired after 1 h", "answer", "e2", "2", "yes")
    assert serving.state("e2") == "waiting"


def test_commands_do_not_get_the_address_of_the_database(serving: WarmFleet) -> None:
    """The address may have a password, and the output of commands may have secrets."""
    (serving.folder / "a1.go").touch()
    serving.start("a1")
    serving.until("a1", "waiting")
    assert serving.call("answer", "a1", "2", "yes").code == 0
    serving.until("a1", "complete")
    found = "\n".join(serving.lines("a1.environment"))
    assert "RDC_STEP=4" in found
    assert "RDC_DATABASE" not in found
    assert serving.url not in found
    modes = {path.name: path.stat().st_mode & 0o777 for path in serving.folder.glob("runs.sqlite*") if path.is_file()}
    assert "runs.sqlite" in modes
    assert {*modes.values()} == {0o600}, modes
    with legs_of(serving, "a1") as legs:
        for run, change in (("counter", {"registers": {"1 retries": "0; touch x"}}), ("step", {"node": "7"})):
            add_run(legs, run, lambda begin, change=change: {**begin, **change}, like="a1")  # type: ignore[misc]
    for run in ("counter", "step"):
        serving.until(run, "refused")
        assert "someone has changed them; cancel it" in serving.call("status", run).out


def test_a_step_of_a_killed_worker_is_not_repeated(fleet: WarmFleet) -> None:
    worker = fleet.begun(WAITS)
    (group,) = map(int, fleet.lines("pids"))
    worker.kill()
    until(lambda: group_is_gone(group), 3)
    until(lambda: not fleet.left(), 3)
    fleet.worker().says("took over 1 run", 10)
    fleet.until("r1", "interrupted", seconds=10)
    assert fleet.lines("steps") == ["before", "waits"]
    shown = fleet.expect(75, "INTERRUPTED at 2 Waits", "status", "r1")
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
    fleet: WarmFleet, tmp_path: Path, decision: str, state: str, last: list[str]
) -> None:
    fleet.begun(WAITS).kill()
    fleet.worker()
    fleet.until("r1", "interrupted", seconds=12)
    (tmp_path / "go").touch()
    assert fleet.call("answer", "r1", "2", decision, "--note", "saw it").code == 0
    fleet.until("r1", state)
    shown = fleet.call("status", "r1")
    assert ("FAIL  2 Waits" in shown.out, "saw it" in shown.out) == (decision == "fail", True), shown.out
    assert fleet.lines("steps") == ["before", "waits", *last]


@pytest.mark.soak
def test_a_killed_helper_interrupts_its_step_only(sqlite_fleet: WarmFleet, tmp_path: Path) -> None:
    worker = sqlite_fleet.begun(WAITS)
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
def test_a_worker_whose_server_of_helpers_was_killed_ends(sqlite_fleet: WarmFleet) -> None:
    worker = sqlite_fleet.begun(WAITS)
    (server,) = children(worker.process.pid)
    (group,) = map(int, sqlite_fleet.lines("pids"))
    sqlite_fleet.start("r2")
    os.kill(server, signal.SIGKILL)
    assert worker.process.wait(10) == 2
    assert "the process that starts helpers ended" in worker.text
    assert group_is_gone(group)
    until(lambda: not sqlite_fleet.left(), 3)


@pytest.mark.soak
def test_an_error_of_a_worker_is_not_the_error_of_a_run(sqlite_fleet: WarmFleet, tmp_path: Path) -> None:
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


CLEANS = "trap 'echo got >> signals; sleep 0.5; echo cleaned >> signals; exit {}' TERM\n"


def test_a_worker_that_stops_lets_its_step_end_and_hands_the_run_over(sqlite_fleet: WarmFleet, tmp_path: Path) -> None:
    worker = sqlite_fleet.begun(WAITS)
    worker.send(signal.SIGTERM)
    worker.says("a second signal interrupts")
    (tmp_path / "go").touch()
    assert (worker.process.wait(10), sqlite_fleet.state("r1")) == (0, "queued")
    assert sqlite_fleet.lines("steps") == ["before", "waits"]
    assert "PASS  2 Waits" in sqlite_fleet.call("status", "r1").out
    until(lambda: not sqlite_fleet.left(), 3)
    sqlite_fleet.worker()
    sqlite_fleet.until("r1", "complete")
    assert sqlite_fleet.lines("steps") == ["before", "waits", "after"]


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_second_signal_ends_the_command(sqlite_fleet: WarmFleet, number: signal.Signals) -> None:
    worker = sqlite_fleet.begun(STUBBORN)
    (group,) = map(int, sqlite_fleet.lines("pids"))
    worker.send(number)
    worker.says("a second signal interrupts")
    assert worker.process.poll() is None
    worker.send(number)
    until(lambda: group_is_gone(group), 15)  # ten seconds to clean up
    assert worker.process.wait(10) == 0
    until(lambda: not sqlite_fleet.left(), 3)
    assert (sqlite_fleet.state("r1"), sqlite_fleet.lines("steps")) == ("interrupted", ["before", "waits"])
    with suppress(ProcessLookupError):
        os.killpg(worker.process.pid, 0)
        pytest.fail("the group of the worker exists")


@pytest.mark.soak
@pytest.mark.parametrize(("code", "state"), [(3, "interrupted"), (0, "queued")])
def test_a_command_gets_a_second_signal_once_with_time_to_clean_up(fleet: WarmFleet, code: int, state: str) -> None:
    """A failure after it is no FAIL, so nothing is retried; a success counts, and the run goes on elsewhere."""
    retried = WAITS.replace("\n## 3.", "\n- FAIL: RETRY 2 CONTINUE\n\n## 3.")
    worker = fleet.begun(retried.replace("trap 'exit 143' TERM\n", CLEANS.format(code)))
    worker.send(signal.SIGTERM)
    worker.says("a second signal interrupts")
    worker.send(signal.SIGTERM)
    assert worker.process.wait(20) == 0
    assert (fleet.lines("signals"), fleet.lines("steps")) == (["got", "cleaned", "ended"], ["before", "waits"])
    assert fleet.state("r1") == state
