"""Runs of specifications that are interrupted: what the records say of it (B15), and which attempts are left (B12)."""

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.process import CLOCK
from tests.support.specifications import Place, compiled_to

pytestmark = pytest.mark.process

EXECUTOR = """
echo "$RDC_STEP" >> executed
n=$(grep -c "$RDC_STEP" executed)
if [ -e "slow-$RDC_STEP-$n" ]; then echo > slow; sleep 30; fi
[ ! -e "bad-$RDC_STEP-$n" ] || exit 1
echo made > "out/$RDC_STEP.md"
"""


def document(backoff: int = 0, retries: int = 2) -> dict[str, Any]:
    """A specification of two steps; files in the folder say which executions fail, or take long."""
    again = {"max": retries, "backoff_seconds": backoff}
    return {
        "workflow": {"module": "m", "workflow": "w"},
        "config": {"variables": {"output_folder": "out"}, "executor": EXECUTOR},
        "step_specs": [
            {"id": step, "outputs": [f"{{output_folder}}/{step}.md"], "retries": again} for step in ("s0", "s1")
        ],
    }


class Interrupted(Place):
    """A compiled specification whose calls can be ended at a moment."""

    def __init__(self, folder: Path, *files: str, **settings: int) -> None:
        (folder / "out").mkdir()
        for name in files:
            (folder / name).touch()
        self._file = compiled_to(folder, document(**settings))
        super().__init__(folder, self._file)

    def later(self) -> None:
        """From now on the program does not wait in its pauses."""
        self._file.write_text(self._file.read_text().replace("\nimport ", f"\n{CLOCK}import ", 1))

    def ended(self, number: int, is_due: Callable[[], bool], *words: str) -> int:
        """Send a signal to a call once something is so; return its exit code."""
        command = [sys.executable, str(self._file), *words]
        process = warm.start(command, cwd=self.folder, env=os.environ, loads="runtime_shim")
        deadline = time.monotonic() + 20
        while not is_due():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        return process.wait(timeout=20)

    def is_slow(self) -> bool:
        """Whether a slow executor is at work, which the journal names a moment after it has begun."""
        return (self.folder / "slow").exists() and any(b'"kind":"process"' in line for line in self._records()[-1:])

    def pauses(self) -> bool:
        """Whether the run is in a pause between two attempts."""
        return any(b'"due"' in line for line in self._records())

    def _records(self) -> list[bytes]:
        return [line for path in self.folder.glob(".rdc/*/journal") for line in path.read_bytes().splitlines()]

    @property
    def kinds(self) -> list[str]:
        """The kinds of the events so far."""
        return [event["event_type"] for event in self.record("events")]

    @property
    def executed(self) -> list[str]:
        """The steps in the order in which the executor was called."""
        return (self.folder / "executed").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_ended_in_a_pause_is_recorded_as_resumed_once(tmp_path: Path, number: int) -> None:
    place = Interrupted(tmp_path, "bad-s0-1", "bad-s0-2", backoff=2)
    assert place.ended(number, place.pauses, "run") != 0
    place.later()
    assert place.executed == ["s0"]
    assert place("resume").code == 0
    assert place.kinds.count("WorkflowResumed") == 1
    assert place.kinds[place.kinds.index("WorkflowResumed") + 1] == "WorkflowStepStarted"
    assert [event["payload"]["attempt"] for event in place.record("events") if "attempt" in event["payload"]] == [
        *(1, 2, 3), 1,
    ]  # fmt: skip


@pytest.mark.parametrize("calls", [[["run"]], [["open"], ["step", "s0"], ["step", "s1"]]])
def test_a_run_without_interruption_is_never_recorded_as_resumed(tmp_path: Path, calls: list[list[str]]) -> None:
    place = Interrupted(tmp_path, "bad-s0-1", "bad-s1-1", backoff=1)
    place.later()
    assert [place(*words).code for words in calls] == [0] * len(calls)
    assert "WorkflowResumed" not in place.kinds


@pytest.mark.parametrize("call", ["resume", "open"])
def test_a_call_that_takes_over_a_run_between_steps_is_recorded_once(tmp_path: Path, call: str) -> None:
    place = Interrupted(tmp_path, "bad-s1-1", backoff=1)
    place.later()
    assert [place(*words).code for words in (["open"], ["step", "s0"], [call])] == [0, 0, 0]
    assert (place.kinds[-1] == "WorkflowResumed") == (call == "open")
    assert place("step", "s1").code == 0
    assert place.kinds.count("WorkflowResumed") == 1
    assert place.kinds[-1] == "WorkflowCompleted"


@pytest.mark.parametrize("calls", [[["step", "s0"]], [["open"], ["step", "s0"], ["step", "s1"]]])
def test_a_step_that_ended_in_a_pause_is_recorded_as_resumed_once(tmp_path: Path, calls: list[list[str]]) -> None:
    place = Interrupted(tmp_path, "bad-s0-1", backoff=2)
    assert place("open").code == 0
    assert place.ended(signal.SIGKILL, place.pauses, "step", "s0") != 0
    place.later()
    assert [place(*words).code for words in calls] == [0] * len(calls)
    assert place.kinds.count("WorkflowResumed") == 1


@pytest.mark.parametrize("decision", [["--rerun-interrupted"], ["--assume", "fail"]])
def test_an_attempt_that_was_cut_off_leaves_the_rest_of_the_budget(tmp_path: Path, decision: list[str]) -> None:
    place = Interrupted(tmp_path, "bad-s0-1", "slow-s0-2", "bad-s0-3", "bad-s0-4", "bad-s0-5")
    place.ended(signal.SIGTERM, place.is_slow, "run")
    assert place("resume", *decision).code == 1
    is_again = decision == ["--rerun-interrupted"]
    assert place.executed == ["s0"] * (4 if is_again else 3)
    assert place.record("manifest")["steps"][0]["attempts"] == len(place.executed)
    started = [one["payload"] for one in place.record("events") if one["event_type"] == "WorkflowStepStarted"]
    assert [one["attempt"] for one in started] == list(range(1, len(place.executed) + 1))
    assert ["rerun" in one for one in started] == [is_again and one["attempt"] == 3 for one in started]
    assert place.kinds.count("WorkflowResumed") == 1
    assert place.kinds.count("WorkflowStepFailed") == 1


def test_a_step_without_retries_counts_its_rerun(tmp_path: Path) -> None:
    place = Interrupted(tmp_path, "slow-s0-1", retries=0)
    place.ended(signal.SIGKILL, place.is_slow, "run")
    assert place("resume", "--rerun-interrupted").code == 0
    assert place.executed == ["s0", "s0", "s1"]
    assert [step["attempts"] for step in place.record("manifest")["steps"]] == [2, 1]


def test_a_rerun_waits_until_the_old_executor_has_cleaned_up(tmp_path: Path) -> None:
    place = Interrupted(tmp_path, "slow-s0-1")
    (tmp_path / "executor.sh").write_text(
        "trap 'sleep 0.3; echo cleaned >> order; exit 1' TERM\necho started >> order\n"
        "[ -e fast ] || { echo > slow; sleep 30 & wait; }\necho made > out/$RDC_STEP.md\n"
    )
    place.ended(signal.SIGKILL, place.is_slow, "run", "--executor", "sh executor.sh; true")
    (tmp_path / "fast").touch()
    assert place("resume", "--rerun-interrupted", "--executor", "sh executor.sh; true").code == 0
    assert (tmp_path / "order").read_text().split() == ["started", "cleaned", "started", "started"]


def test_nothing_starts_beside_what_outlived_the_executor(tmp_path: Path) -> None:
    place = Interrupted(tmp_path, "slow-s0-1")
    place.ended(signal.SIGKILL, place.is_slow, "run")
    (journal,) = tmp_path.glob(".rdc/*/journal")
    group = [int(pid) for pid in re.findall(rb'"pid":(\d+)', journal.read_bytes())][-1]
    os.kill(group, signal.SIGKILL)
    resumed = place("resume", "--rerun-interrupted")
    assert (resumed.code, place.executed) == (75, ["s0"])
    still = f"processes of its command still run (group {group}), or another program's if the machine was restarted"
    assert (still in resumed.err, "--rerun-interrupted" in resumed.err) == (True, False), "it would be refused again"
    assert f"\nP{still[1:]}; wait until the group ends, or stop it: kill -- -{group}\n" in place("status").out
    os.killpg(group, signal.SIGKILL)
    assert place("resume", "--rerun-interrupted").code == 0
    assert place.executed == ["s0", "s0", "s1"]


def test_a_failed_step_is_resumed_with_the_whole_budget(tmp_path: Path) -> None:
    place = Interrupted(tmp_path, *(f"bad-s0-{number}" for number in range(1, 6)))
    assert place("run").code == 1
    assert place("resume").code == 0
    assert place.executed == ["s0"] * 6 + ["s1"]
    assert place.kinds.count("WorkflowResumed") == 1
