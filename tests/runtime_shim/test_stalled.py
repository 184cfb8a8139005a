"""Stop signals end a run that waits for the other end of a pipe, at once and with nothing left behind (R3, R5)."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.runtime_shim.operator import waiting
from tests.support.process import Place, ask, program, shell

pytestmark = pytest.mark.process

TWO = program({"1": shell("echo one >> log", "2"), "2": shell("echo two >> log", "COMPLETE")})


@contextmanager
def full_pipe() -> Iterator[tuple[int, int]]:
    """A pipe that nobody reads and that is full."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 512)
    except BlockingIOError:
        os.set_blocking(writer, True)
    yield reader, writer
    os.close(reader)
    os.close(writer)


def started(place: Place, *words: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(place.script), *words],
        cwd=place.path, env=place.environment(), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
    )  # fmt: skip


def wait_until_it_waits(process: subprocess.Popen[str]) -> None:
    """Wait until a process has slept for a while, as one does that waits for the other end of a pipe."""
    stat, slept, deadline = Path(f"/proc/{process.pid}/stat"), 0, time.monotonic() + 20
    if not stat.exists():  # as on macOS
        time.sleep(0.6)
    while stat.exists() and slept < 6:
        slept = slept + 1 if stat.read_text().rpartition(")")[2].split()[0] == "S" else 0
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert process.poll() is None


def ended(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """Tell a process to end, and see that it does so at once."""
    begun = time.monotonic()
    process.send_signal(number)
    try:
        _, err = process.communicate(timeout=5)
    finally:
        process.kill()
    assert time.monotonic() - begun < 2
    return process.returncode, err or ""


def test_standard_error_that_nobody_reads(tmp_path: Path) -> None:
    place = Place(tmp_path, TWO)
    with full_pipe() as (_, writer):
        process = started(place, "run", stderr=writer)
        wait_until_it_waits(process)
        code, _ = ended(process, signal.SIGTERM)
    assert code == 130
    assert place.text("log") == "", "the step that could not be announced has not begun"
    assert "READY at 1" in place.run("status").out
    assert place.run("resume").code == 0
    assert place.walk() == ["1 pass", "2 pass"]


def test_standard_error_that_stalls_after_a_command(tmp_path: Path) -> None:
    """The signal ends the command and is received there; what rdc prints then must not wait for a reader either."""
    fill = "import os\\nos.set_blocking(2, False)\\ntry:\\n    while os.write(2, b'x' * 512): pass\\n"
    fill += "except BlockingIOError: os.set_blocking(2, True)"
    command = f"{sys.executable} -c \"exec('''{fill}''')\"; echo ready > ready; sleep 1000"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    reader, writer = os.pipe()
    process = started(place, "run", stderr=writer)
    place.wait_for("ready")
    assert ended(process, signal.SIGINT)[0] == 130
    os.close(reader)
    os.close(writer)
    assert "INTERRUPTED at 1" in place.run("status").out


def test_a_reader_that_is_slow_gets_everything(tmp_path: Path) -> None:
    process = started(Place(tmp_path, program({"1": {**shell("true", "COMPLETE"), "title": "x" * 200_000}})), "run")
    time.sleep(0.2)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert f"1 {'x' * 200_000}\n" in err


@pytest.mark.parametrize(("option", "number"), [("--events", signal.SIGTERM), ("--answers", signal.SIGINT)])
def test_a_pipe_that_nobody_opens(tmp_path: Path, option: str, number: signal.Signals) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}))
    os.mkfifo(tmp_path / "pipe")
    process = started(place, "run", option, "pipe")
    wait_until_it_waits(process)
    assert ended(process, number) == (130, "rdc: INTERRUPTED before anything ran\n")
    assert not place.journal.exists()
    assert place.run("run").code == 75, "the lock was given back"


@pytest.mark.parametrize("ends", [False, True])
def test_answers_from_a_pipe_are_waited_for_until_a_signal(tmp_path: Path, ends: bool) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}))
    os.mkfifo(tmp_path / "pipe")
    process = started(place, "run", "--answers", "pipe")
    with (tmp_path / "pipe").open("w") as pipe:
        pipe.write("pass\n")
        pipe.flush()
        wait_until_it_waits(process)
        if not ends:
            assert ended(process, signal.SIGTERM) == (130, "rdc: INTERRUPTED before anything ran\n")
    if ends:
        process.communicate(timeout=10)
        assert process.returncode == 0


def test_answers_without_an_end_are_refused(tmp_path: Path) -> None:
    result = Place(tmp_path, program({"1": ask("COMPLETE")})).run("run", "--answers", "/dev/zero")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert result.last == "rdc: error: /dev/zero: larger than 16,777,216 bytes"


def test_events_that_nobody_reads(tmp_path: Path) -> None:
    place = Place(tmp_path, TWO)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    filler = os.open(tmp_path / "pipe", os.O_WRONLY | os.O_NONBLOCK)
    fcntl.fcntl(filler, fcntl.F_SETPIPE_SZ, 4096)
    os.write(filler, b"x" * 4096)
    process = started(place, "run", "--events", "pipe")
    wait_until_it_waits(process)
    code, err = ended(process, signal.SIGINT)
    assert (code, err.splitlines()[-1]) == (130, "rdc: INTERRUPTED 1 Work")
    os.close(reader)
    os.close(filler)
    assert place.text("log") == ""
    assert "READY at 1" in place.run("status").out


def test_a_refusal_that_nobody_reads(tmp_path: Path) -> None:
    """Nothing is under way then; Ctrl-C must end it anyway, at the first time."""
    place = waiting(tmp_path, program({"1": ask("COMPLETE")}))
    for words in (["run"], ["frob"], []):
        with full_pipe() as (_, writer):
            process = started(place, *words, stderr=writer)
            wait_until_it_waits(process)
            assert ended(process, signal.SIGINT)[0] == 130
