"""Signals to a Makefile's run (R5), and locks: one make runs, others are refused, and nothing is left behind."""

import os
import signal
import subprocess
import time
from itertools import product
from pathlib import Path

import pytest

from tests.backends.make.loops import Terminal, code, ending, holder, is_alive, locks
from tests.support.makefiles import PATIENCE, SLOW, Place, environment
from tests.support.process import wait_until
from tests.support.runbooks import command

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

WAITS = "while [ ! -e got ]; do sleep 0.05; done; sleep 0.1"
DOCUMENT = (
    "# Slow\n\n"
    + command("1. Build", "echo build >> log")
    + command(
        "2. Wait",
        "trap 'echo got >> got' INT TERM HUP\necho $$ >> began\n[ -e quick ] && exit 0\n"
        f"{WAITS}\n[ -e quick ] || exit 1",
        "FAIL: RETRY 3 GOTO 4",
    )
    + command("3. Ship", "echo ship >> log", 'PASS: COMPLETE "Done"')
    + command("4. Handle it", "echo handled >> log")
)
ALONE = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP}


def hurried(folder: Path, document: str = DOCUMENT) -> Place:
    """A Makefile that waits a second for what its command leaves in its group, instead of ten.

    Where the first process of a machine collects no ended ones, a group is there as long as somebody waits for it.
    """
    place, text = Place(folder, document), (folder / "Makefile").read_text(encoding="utf-8")
    assert text.count("rdc_left=100") == 1
    (folder / "Makefile").write_text(text.replace("rdc_left=100", "rdc_left=10"), encoding="utf-8")
    return place


def was_interrupted(place: Place, most: int = 1) -> None:
    """The run has stopped in step 2, whose command got one signal, or a few, and goes on as somebody decides."""
    assert 1 <= len(place.lines("got")) <= most
    assert place.lines("log") == ["build"]
    (command,) = place.lines("began")
    wait_until(lambda: not is_alive(int(command)))
    assert (locks(place), ending(place.make("resume"))) == ([], (75, "rdc: WAITING 2 was interrupted"))
    (place.folder / "quick").touch()
    assert ending(place.make("resume", "RERUN=yes")) == (0, "rdc: COMPLETE Done")
    assert (place.lines("log"), len(place.lines("began"))) == (["build", "ship"], 2)


@pytest.mark.parametrize(("name", "to"), [*product(ALONE, ("group", "loop")), ("TERM", "make")])
def test_a_signal_interrupts_the_run(name: str, to: str, tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = hurried(tmp_path, DOCUMENT)
    ended.append(place.start())
    if to == "group":
        os.killpg(ended[0].pid, ALONE[name])
    else:
        os.kill(ended[0].pid if to == "make" else holder(place), ALONE[name])
    out, errors = ended[0].communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "rdc: INTERRUPTED 2"
    if to == "loop":
        assert "Error 130" in errors
    assert to == "make" or "RERUN=yes" in errors
    was_interrupted(place)


def test_two_signals_reach_the_command_once_and_what_it_has_begun_ends_too(
    tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    """The command cleans up after the first one."""
    child = "sleep 300 & echo $! > child; sleep 300 > /dev/null & echo $! >> child"
    place = hurried(tmp_path, DOCUMENT.replace(WAITS, f"{child}\n{WAITS}; sleep 0.2; echo safe > cleaned"))
    ended.append(place.start())
    wait_until(lambda: len(place.lines("child")) == 2)
    os.killpg(ended[0].pid, signal.SIGTERM)
    wait_until(lambda: place.lines("got"))
    os.killpg(ended[0].pid, signal.SIGINT)
    out, _ = ended[0].communicate(timeout=PATIENCE)
    assert (out.splitlines()[-1], place.lines("cleaned")) == ("rdc: INTERRUPTED 2", ["safe"])
    assert [is_alive(int(pid)) for pid in place.lines("child")] == [False, False]
    was_interrupted(place)


@pytest.mark.soak
def test_a_command_that_heeds_no_signal_is_killed(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = Place(tmp_path, DOCUMENT.replace("trap 'echo got >> got'", "trap ''").replace("sleep 0.05", "sleep 300"))
    ended.append(place.start())
    began = time.monotonic()
    os.killpg(ended[0].pid, signal.SIGTERM)
    out, _ = ended[0].communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "rdc: INTERRUPTED 2"
    assert 9 < time.monotonic() - began < 14
    assert not is_alive(int(place.lines("began")[0]))


def at_terminal(place: Place) -> Terminal:
    """Run make at a terminal until its slow command runs."""
    terminal = Terminal(place)
    wait_until(lambda: place.lines("began"))
    return terminal


def test_a_key_reaches_the_command_once(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    terminal = at_terminal(place)
    terminal.type("\x03")
    assert terminal.end() == "rdc: INTERRUPTED 2"
    was_interrupted(place)


@pytest.mark.parametrize("name", ALONE)
def test_a_command_that_ended_with_0_has_passed(name: str, tmp_path: Path) -> None:
    """The loop waits for the command, whatever it is told; then the next call starts with the next step."""
    place = Place(tmp_path, DOCUMENT)
    terminal = at_terminal(place)
    os.kill(holder(place), ALONE[name])
    (tmp_path / "got").touch()
    (tmp_path / "quick").touch()
    assert terminal.end() == "rdc: INTERRUPTED before 3"
    assert ending(place.make("resume")) == (0, "rdc: COMPLETE Done")
    assert (place.lines("log"), len(place.lines("began"))) == (["build", "ship"], 1)


@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_a_signal_to_the_group_at_a_terminal(name: str, tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    terminal = at_terminal(place)
    os.killpg(terminal.pid, ALONE[name])
    assert terminal.end() == "rdc: INTERRUPTED 2"
    wait_until(lambda: not locks(place))
    was_interrupted(place, most=2 if name == "TERM" else 1)  # make sends its commands the TERM that it gets


def test_a_window_that_is_closed_interrupts_the_run(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    at_terminal(place).end_with_its_window()
    wait_until(lambda: not locks(place))
    assert place.lines("log") == ["build"]
    assert not is_alive(int(place.lines("began")[0]))
    assert code(place.make("resume")) == 75


def test_a_key_while_a_question_is_shown_leaves_it_open(flow: Place) -> None:
    terminal = Terminal(flow)
    terminal.answer("\x03", after="[yes/no]")
    assert terminal.end().startswith("rdc: INTERRUPTED 2")
    assert ending(flow.make("REPLY=no")) == (1, "rdc: STOP It is bad")


BUSY = "# Busy\n\n## 1. Be busy\n\n```sh\nmkdir busy || touch overlap; sleep 0.05; rmdir busy; echo done >> log\n```\n"
HOST = os.uname().nodename


def gone() -> int:
    dead = subprocess.Popen(["true"])
    dead.wait()
    return dead.pid


def lock(place: Place, target: str) -> Path:
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
        assert (code(refused), "another make is running" in ending(refused)[1]) == (2, True), refused
    assert place.make("status").returncode == 0
    (tmp_path / "go").touch()
    out, _ = ended[0].communicate(timeout=PATIENCE)
    assert (out.splitlines()[-1], place.lines("log"), locks(place)) == ("rdc: COMPLETE", ["build", "ship"], [])


@pytest.mark.parametrize("count", [1, 3])
def test_a_lock_of_a_process_that_is_gone_is_taken_over(count: int, tmp_path: Path) -> None:
    place = Place(tmp_path, BUSY)
    path = lock(place, f"{gone()}@{HOST}")
    for _ in range(count - 1):
        path = path.with_name(f"{path.name}.{str(path.readlink()).split('@')[0]}")
        path.symlink_to(f"{gone()}@{HOST}")
    assert (ending(place.make()), locks(place)) == ((0, "rdc: COMPLETE"), [])


@pytest.mark.parametrize("is_left", [False, True], ids=["free", "left behind"])
def test_of_many_at_once_no_two_run(is_left: bool, tmp_path: Path) -> None:
    place = Place(tmp_path, BUSY)
    if is_left:
        lock(place, f"{gone()}@{HOST}")
    many = [
        subprocess.Popen(["make"], cwd=tmp_path, env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    last_lines = [process.communicate(timeout=PATIENCE)[0].splitlines()[-1] for process in many]
    completed = last_lines.count(b"rdc: COMPLETE")
    assert completed >= 1
    assert all(line == b"rdc: COMPLETE" or line.startswith(b"rdc: error: ") for line in last_lines), last_lines
    assert place.lines("log") == ["done"] * completed
    assert not (tmp_path / "overlap").exists()
    assert (locks(place), ending(place.make())) == ([], (0, "rdc: COMPLETE"))


@pytest.mark.parametrize("target", ["1@other-host", f"ME@{HOST}", "x", "$(touch canary)@x", f"1@{HOST}", "", "."])
def test_a_lock_that_is_not_of_a_process_that_is_gone_is_kept(target: str, tmp_path: Path) -> None:
    """It may be of another machine, of a process that lives, or be a file or a folder."""
    place, target = Place(tmp_path, BUSY), target.replace("ME", str(os.getpid()))
    path = lock(place, target or "/dev/null")
    if target in ("", "."):
        path.unlink()
        path.mkdir() if target else path.touch()
    for words in ([], ["resume"]):
        refused = place.make(*words)
        assert code(refused) == 2
        assert str(path.relative_to(tmp_path)) in refused.stdout, "what to remove"
    assert path.exists() if target in ("", ".") else str(path.readlink()) == target
    assert place.lines("log") == []
    path.rmdir() if target == "." else path.unlink()
    assert ending(place.make()) == (0, "rdc: COMPLETE")
    assert not list(tmp_path.rglob("canary*"))


def test_a_run_whose_loop_was_killed_waits_for_its_command(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = Place(tmp_path, SLOW)
    ended.append(place.start())
    command = int(place.lines("began")[0])
    for pid in (ended[0].pid, holder(place)):
        os.kill(pid, signal.SIGKILL)
    ended[0].wait(PATIENCE)
    try:
        for words in (["resume"], ["resume", "RERUN=yes"], ["ASSUME=pass"], ["clean"]):
            refused = place.make(*words)
            assert (code(refused), "still runs" in refused.stdout) == (2, True), refused
        assert is_alive(command), "rdc signals no process that only a file names"
    finally:
        group = int((place.state / "pid").read_text())
        os.killpg(group, signal.SIGKILL)
    wait_until(lambda: not is_alive(group))
    (tmp_path / "quick").touch()
    assert (code(place.make("resume")), ending(place.make("resume", "RERUN=yes"))) == (75, (0, "rdc: COMPLETE"))
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
