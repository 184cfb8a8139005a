"""Several makes at once: one runs, the others are refused; a lock of a process that is gone is taken over once."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.backends.make.loops import code, ending, holder, is_alive, locks, wait_until
from tests.support.makefiles import FLOW, PATIENCE, SLOW, Place, environment

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

BUSY = "# Busy\n\n## 1. Be busy\n\n```sh\nmkdir busy || touch overlap; sleep 0.05; rmdir busy; echo done >> log\n```\n"
HOST = os.uname().nodename


def gone() -> int:
    """The number of a process that is gone."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    return dead.pid


def lock(place: Place, target: str) -> Path:
    """Lay a lock."""
    (place.folder / ".rdc" / "main.make").mkdir(parents=True, mode=0o700)
    path = place.folder / ".rdc" / "main.make" / "lock"
    path.symlink_to(target)
    return path


def test_a_second_run_is_refused_and_the_first_goes_on(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = Place(tmp_path, SLOW.replace("exec sleep 30", "until [ -e go ]; do sleep 0.01; done"))
    ended.append(place.start())
    assert str((place.state / "lock").readlink()) == f"{holder(place)}@{HOST}"
    for words in ([], ["resume"], ["resume", "RERUN=yes"], ["resume", "ASSUME=pass"]):
        refused = place.make(*words)
        assert code(refused) == 2
        assert "another make is running" in ending(refused)[1]
    assert place.make("status").returncode == 0
    (tmp_path / "go").touch()
    out, _ = ended[0].communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "rdc: COMPLETE"
    assert place.lines("log") == ["build", "ship"]
    assert locks(place) == []


@pytest.mark.parametrize("count", [1, 3])
def test_a_lock_of_a_process_that_is_gone_is_taken_over(count: int, tmp_path: Path) -> None:
    place = Place(tmp_path, BUSY)
    path = lock(place, f"{gone()}@{HOST}")
    for _ in range(count - 1):
        path = path.with_name(f"{path.name}.{str(path.readlink()).split('@')[0]}")
        path.symlink_to(f"{gone()}@{HOST}")
    assert ending(place.make()) == (0, "rdc: COMPLETE")
    assert locks(place) == []


@pytest.mark.parametrize("is_left", [False, True], ids=["free", "left behind"])
def test_of_many_at_once_no_two_run(is_left: bool, tmp_path: Path) -> None:
    place = Place(tmp_path, BUSY)
    if is_left:
        lock(place, f"{gone()}@{HOST}")
    many = [
        subprocess.Popen(["make"], cwd=tmp_path, env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    said_by = [process.communicate(timeout=PATIENCE)[0].splitlines()[-1] for process in many]
    completed = said_by.count(b"rdc: COMPLETE")
    assert completed >= 1
    assert all(line == b"rdc: COMPLETE" or line.startswith(b"rdc: error: ") for line in said_by), said_by
    assert place.lines("log") == ["done"] * completed
    assert not (tmp_path / "overlap").exists()
    assert locks(place) == []
    assert ending(place.make()) == (0, "rdc: COMPLETE")


@pytest.mark.parametrize("target", ["1@other-host", f"ME@{HOST}", "x", "$(touch canary)@x", f"1@{HOST}"])
def test_a_lock_of_another_machine_or_of_a_process_that_lives_is_kept(target: str, tmp_path: Path) -> None:
    place = Place(tmp_path, BUSY)
    target = target.replace("ME", str(os.getpid()))
    path = lock(place, target)
    for words in ([], ["resume"]):
        refused = place.make(*words)
        assert code(refused) == 2
        assert str(path.relative_to(tmp_path)) in refused.stdout, "what to remove"
    assert str(path.readlink()) == target
    assert place.lines("log") == []
    path.unlink()
    assert ending(place.make()) == (0, "rdc: COMPLETE")
    assert not list(tmp_path.rglob("canary*"))


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_something_else_in_the_place_of_the_lock_is_an_error(kind: str, tmp_path: Path) -> None:
    place = Place(tmp_path, BUSY)
    path = lock(place, "x")
    path.unlink()
    path.mkdir() if kind == "folder" else path.touch()
    refused = place.make()
    assert (code(refused), ending(refused)[1][:12]) == (2, "rdc: error: ")
    assert place.lines("log") == []
    assert path.exists()


def test_a_run_whose_loop_was_killed_waits_for_its_command(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = Place(tmp_path, SLOW)
    ended.append(place.start())
    command = int(place.lines("began")[0])
    for pid in (ended[0].pid, holder(place)):
        os.kill(pid, signal.SIGKILL)
    ended[0].wait(PATIENCE)
    try:
        for words in (["resume"], ["resume", "RERUN=yes"], ["ASSUME=pass"]):
            refused = place.make(*words)
            assert code(refused) == 2
            assert "still runs" in refused.stdout
        assert is_alive(command), "rdc signals no process that only a file names"
    finally:
        group = int((place.state / "pid").read_text())
        os.killpg(group, signal.SIGKILL)
    wait_until(lambda: not is_alive(group))
    (tmp_path / "quick").touch()
    assert code(place.make("resume")) == 75
    assert ending(place.make("resume", "RERUN=yes")) == (0, "rdc: COMPLETE")
    assert place.lines("log") == ["build", "ship"]


def test_the_make_alone_was_killed(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    """Its loop goes on, and holds the lock."""
    place = Place(tmp_path, SLOW.replace("exec sleep 30", "until [ -e go ]; do sleep 0.01; done"))
    ended.append(place.start())
    loop = holder(place)
    os.kill(ended[0].pid, signal.SIGKILL)
    ended[0].wait(PATIENCE)
    assert code(place.make("resume", "RERUN=yes")) == 2
    (tmp_path / "go").touch()
    wait_until(lambda: not is_alive(loop))
    assert place.lines("log") == ["build", "ship"]


def test_a_question_that_waits_holds_no_lock(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    assert code(place.make()) == 75
    assert locks(place) == []
