"""Signals to a Makefile's run, with and without a terminal (R5): the command gets one, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.backends.make.loops import Terminal, code, ending, holder, is_alive, locks, wait_until
from tests.support.makefiles import PATIENCE, Place

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

WAITS = "while [ ! -e got ]; do sleep 0.05; done; sleep 0.1"
DOCUMENT = f"""\
# Slow

## 1. Build

```bash
echo build >> log
```

## 2. Wait

```bash
trap 'echo got >> got' INT TERM HUP
echo $$ >> began
[ -e quick ] && exit 0
{WAITS}
[ -e quick ] || exit 1
```

- FAIL: RETRY 3 GOTO 4

## 3. Ship

```bash
echo ship >> log
```

- PASS: COMPLETE "Done"

## 4. Handle it

```bash
echo handled >> log
```
"""
ALONE = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP}


def hurried(folder: Path, document: str = DOCUMENT) -> Place:
    """A Makefile that waits a second for what its command leaves in its group, instead of ten.

    Where the first process of a machine collects no ended ones, a group is there as long as somebody waits for it.
    """
    place = Place(folder, document)
    text = (folder / "Makefile").read_text(encoding="utf-8")
    assert text.count("rdc_left=100") == 1
    (folder / "Makefile").write_text(text.replace("rdc_left=100", "rdc_left=10"), encoding="utf-8")
    return place


def was_interrupted(place: Place) -> None:
    """The run has stopped in step 2, whose command got one signal, and goes on as somebody decides."""
    assert place.lines("got") == ["got"]
    assert place.lines("log") == ["build"]
    (command,) = place.lines("began")
    wait_until(lambda: not is_alive(int(command)))
    assert locks(place) == []
    assert ending(place.make("resume")) == (75, "rdc: WAITING 2 was interrupted")
    (place.folder / "quick").touch()
    assert ending(place.make("resume", "RERUN=yes")) == (0, "rdc: COMPLETE Done")
    assert (place.lines("log"), len(place.lines("began"))) == (["build", "ship"], 2)


# --- Without a terminal -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("to", ["group", "loop"])
def test_a_signal_interrupts_the_run(name: str, to: str, tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = hurried(tmp_path, DOCUMENT)
    ended.append(place.start())
    if to == "group":
        os.killpg(ended[0].pid, ALONE[name])
    else:
        os.kill(holder(place), ALONE[name])
    out, errors = ended[0].communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "rdc: INTERRUPTED 2"
    if to == "loop":
        assert "Error 130" in errors
    assert "RERUN=yes" in errors
    was_interrupted(place)


def test_term_to_make_alone_interrupts_the_run(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = hurried(tmp_path, DOCUMENT)
    ended.append(place.start())
    os.kill(ended[0].pid, signal.SIGTERM)
    out, _ = ended[0].communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "rdc: INTERRUPTED 2"
    was_interrupted(place)


def test_two_signals_reach_the_command_once(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = hurried(tmp_path, DOCUMENT)
    ended.append(place.start())
    os.killpg(ended[0].pid, signal.SIGTERM)
    wait_until(lambda: place.lines("got"))
    os.killpg(ended[0].pid, signal.SIGINT)
    ended[0].communicate(timeout=PATIENCE)
    was_interrupted(place)


def test_a_command_cleans_up_after_a_signal(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    place = hurried(tmp_path, DOCUMENT.replace("sleep 0.1", "sleep 0.3; echo safe > cleaned"))
    ended.append(place.start())
    os.killpg(ended[0].pid, signal.SIGINT)
    out, _ = ended[0].communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "rdc: INTERRUPTED 2"
    assert place.lines("cleaned") == ["safe"]
    assert place.lines("log") == ["build"]


def test_what_a_command_has_begun_is_ended_too(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    child = "sleep 300 & echo $! > child; sleep 300 > /dev/null & echo $! >> child"
    place = hurried(tmp_path, DOCUMENT.replace("[ -e quick ]", f"{child}; [ -e quick ]"))
    ended.append(place.start())
    wait_until(lambda: len(place.lines("child")) == 2)
    os.killpg(ended[0].pid, signal.SIGTERM)
    ended[0].communicate(timeout=PATIENCE)
    assert [is_alive(int(pid)) for pid in place.lines("child")] == [False, False]


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


# --- At a terminal ----------------------------------------------------------------------------------------------------


def at_terminal(place: Place) -> Terminal:
    """Run make at a terminal until its slow command runs."""
    terminal = Terminal(place)
    wait_until(lambda: place.lines("began"))
    return terminal


def test_a_key_reaches_the_command_once(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    terminal = at_terminal(place)
    os.write(terminal.master, b"\x03")
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
    os.killpg(terminal.process.pid, ALONE[name])
    assert terminal.end() == "rdc: INTERRUPTED 2"
    wait_until(lambda: not locks(place))
    was_interrupted(place)


def test_a_window_that_is_closed_interrupts_the_run(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    terminal = at_terminal(place)
    terminal.hang_up()
    os.killpg(terminal.process.pid, signal.SIGHUP)  # as the shell does that has begun it
    wait_until(lambda: not locks(place))
    terminal.process.wait(PATIENCE)
    assert place.lines("log") == ["build"]
    assert not is_alive(int(place.lines("began")[0]))
    assert code(place.make("resume")) == 75


def test_a_key_while_a_question_is_shown_leaves_it_open(flow: Place) -> None:
    terminal = Terminal(flow)
    terminal.type("\x03", after="[yes/no]")
    assert terminal.end().startswith("rdc: INTERRUPTED 2")
    assert ending(flow.make("REPLY=no")) == (1, "rdc: STOP It is bad")
