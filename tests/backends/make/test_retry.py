"""A Makefile that runs by itself: after STOP, `make retry` continues at the step that failed last."""

import random
import subprocess
import time
from pathlib import Path

import pytest

from tests.backends.make.loops import RUN, code, ending
from tests.support.makefiles import PATIENCE, Place, environment, kill_all
from tests.support.runbooks import command, question

pytestmark = pytest.mark.process

FAILED = ".rdc/main.make/failed"
ROLLBACK = (
    "# Deploy\n\n"
    + command("1. Build", "echo build >> log")
    + command("2. Install", 'echo "install $RDC_ATTEMPT" >> log; test -e fixed', "FAIL: RETRY 1 GOTO 4")
    + question("3. Is it good?", "", 'YES: COMPLETE "Out it goes"', 'NO: STOP "It is bad"')
    + command("4. Restore", "echo restore >> log", 'PASS: STOP "Restored"')
)


@pytest.fixture
def stopped(tmp_path: Path) -> Place:
    place = Place(tmp_path, ROLLBACK)
    ended = place.make()
    assert ending(ended) == (1, "rdc: STOP Restored")
    assert "rdc: to run the failed step again: make retry" in ended.stderr
    return place


def test_retry_runs_the_failed_step_again_with_all_attempts(stopped: Place) -> None:
    file = f"{stopped.folder}/Makefile"
    assert f"stopped: make -f {file} retry runs the failed step again" in stopped.make("-f", file, "status").stdout
    again = stopped.make("retry", "BY=ann", "NOTE=nothing \x1b[1m\nü")
    assert (ending(again), "rdc: running again: 2 fail" in again.stderr) == ((1, "rdc: STOP Restored"), True)
    (stopped.folder / "fixed").touch()
    assert ending(stopped.make("retry")) == (75, "rdc: WAITING 3")
    assert stopped.lines("log") == ["build", *["install 1", "install 2", "restore"] * 2, "install 1"]
    assert ending(stopped.make("REPLY=no")) == (1, "rdc: STOP It is bad")
    assert ending(stopped.make("retry")) == (75, "rdc: WAITING 3")
    assert ending(stopped.make("REPLY=yes")) == (0, "rdc: COMPLETE Out it goes")
    assert "2 retry, by ann: nothing ?[1m???" in stopped.lines(".rdc/main.make/log"), "one line of plain characters"


def test_after_stop_make_starts_a_new_run(stopped: Place) -> None:
    (stopped.folder / "fixed").touch()
    assert (ending(stopped.make()), stopped.lines("log").count("build")) == ((75, "rdc: WAITING 3"), 2)
    refused = stopped.make("retry")
    assert ending(refused) == (2, "rdc: error: the run has not ended with STOP; make resume continues it")
    assert not (stopped.folder / FAILED).exists()


def test_retry_needs_a_run_that_stopped(stopped: Place) -> None:
    assert code(stopped.make("clean")) == 0
    none = (2, "rdc: error: no run has ended with STOP; make starts one")
    assert ending(stopped.make("retry")) == none
    (stopped.folder / "fixed").touch()
    stopped.make()
    assert ending(stopped.make("REPLY=yes")) == (0, "rdc: COMPLETE Out it goes")
    assert ending(stopped.make("retry")) == none


def test_a_damaged_file_is_refused(stopped: Place) -> None:
    for text in ("", "id $(touch x) run 1 at 2 tries 0", "id 'x run 1 at 2 tries 0", "at 2\n"):
        (stopped.folder / FAILED).write_text(text)
        refused = stopped.make("retry")
        assert (code(refused), refused.stdout.splitlines()[-1][:12]) == (2, "rdc: error: ")
        assert not (stopped.folder / RUN).exists()
    assert not (stopped.folder / "x").exists()


def test_another_version_is_not_retried(stopped: Place) -> None:
    stopped.write(ROLLBACK.replace("echo restore", "echo back"), {})
    assert "is of another document or version" in stopped.make("retry").stdout


@pytest.mark.parametrize("times", [3, pytest.param(100, marks=pytest.mark.soak)])
def test_a_killed_retry_has_returned_the_run_or_not(times: int, stopped: Place) -> None:
    moments = random.Random(7)
    for _ in range(times):
        words = ["make", "retry"]
        process = subprocess.Popen(
            words, cwd=stopped.folder, env=environment({}), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        time.sleep(moments.uniform(0.0, 0.2))
        kill_all(process.pid)
        process.wait(PATIENCE)
        if (stopped.folder / RUN).exists():
            assert code(stopped.make("retry")) == 2
            done = stopped.make("resume")
            done = stopped.make("resume", "RERUN=yes") if code(done) == 75 else done
            assert ending(done) == (1, "rdc: STOP Restored")
    assert stopped.lines("log").count("build") == 1, "a finished step does not run again"
    assert ending(stopped.make("retry")) == (1, "rdc: STOP Restored")
