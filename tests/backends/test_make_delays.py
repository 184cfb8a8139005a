"""Delays of Makefiles: they can be interrupted, and a run that goes on waits for the rest only (I22)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from compiler.ir.edges import Add, CounterTest
from compiler.ir.program import Program, Register, Settings
from tests.backends.makefiles import PATIENCE, environment, kill_all
from tests.backends.programs import Made, node, program, shell, when


def delayed(seconds: int) -> Program:
    """A command that succeeds when it is tried again."""
    edges = when("pass", "done"), when("fail", "1", Add("n", 1), tests=[CounterTest("n", "<", 2)]), when("fail", "stop")
    first = node("1", shell("echo x >> log; [ -e go ]"), *edges, retries="n", settings=Settings(delay=seconds))
    return program(first, registers=(Register("n", ""),))


def waiting(made: Made) -> subprocess.Popen[bytes]:
    """A run that waits before the second attempt."""
    process = subprocess.Popen(
        ["make"], cwd=made.folder, env=environment({}), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while not (made.state / "delay").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_delay_is_interrupted_and_its_rest_is_waited_for(number: signal.Signals, tmp_path: Path) -> None:
    made = Made(tmp_path, delayed(3))
    process = waiting(made)
    began = time.monotonic()
    time.sleep(1.2)
    (tmp_path / "go").touch()
    if number == signal.SIGKILL:
        kill_all(process.pid)
    else:
        os.killpg(process.pid, number)
    said, _ = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - began < 2
    assert number == signal.SIGKILL or said.endswith(b"rdc: INTERRUPTED 1\n")
    done = made.make("resume")
    assert done.stdout == b"rdc: COMPLETE\n"
    (seconds,) = re.findall(r"waits (\d) seconds", done.stderr.decode())
    assert int(seconds) in {1, 2}
    assert 2 < time.monotonic() - began < 4.5
    assert made.read("log") == b"x\nx\n"


NOTES = ["", "x", "$(touch canary) 3 1", "{run} 3 0009", "{run} 3 9999999999999", "{run} 4 1", "a 3 1"]


@pytest.mark.parametrize("note", NOTES)
def test_a_note_of_a_delay_that_is_damaged_or_of_another_time_makes_it_whole(note: str, tmp_path: Path) -> None:
    made = Made(tmp_path, delayed(1))
    process = waiting(made)
    kill_all(process.pid)
    process.communicate(timeout=PATIENCE)
    run = (made.state / "journal").read_text().split()[3]
    (made.state / "delay").write_text(note.replace("{run}", run), encoding="utf-8")
    (tmp_path / "go").touch()
    assert "waits 1 seconds" in made.make("resume").stderr.decode()
    assert not (tmp_path / "canary").exists()
