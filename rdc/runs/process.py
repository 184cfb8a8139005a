"""`rdc run` as a separate process, because a session takes over the signals, folder and output of its process."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread
from typing import IO

from msgspec import Struct

from runtime_shim.engine.program import EXIT_REFUSED
from runtime_shim.engine.state import Store


class Ended(Struct, frozen=True):
    """How a process ended: its exit code (None: it is still running), its output, and its messages."""

    code: int | None
    output: bytes = b""
    messages: str = ""

    @property
    def error(self) -> str:
        """The last error in its messages, or ""."""
        start, lines = "rdc: error: ", self.messages.splitlines()[::-1]
        return next((line.removeprefix(start) for line in lines if line.startswith(start)), "")

    @property
    def reason(self) -> str:
        """Why a program ended without success: its last error, or else its last message."""
        return self.error or self.messages.rstrip().rpartition("\n")[2]

    @property
    def refusal(self) -> str:
        """The reason why `rdc run` refused to do anything, or ""."""
        return self.error if self.code == EXIT_REFUSED else ""


class Running(Struct, frozen=True):
    """A process of `rdc run` with the files that its output goes to."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]
    messages: IO[bytes]

    def ended(self) -> Ended | None:
        """Return how the process ended, once, or None while it runs."""
        if (code := self.process.poll()) is None:
            return None
        with self.output, self.messages:
            self.output.seek(0)
            self.messages.seek(0)
            return Ended(code, self.output.read(), self.messages.read().decode(errors="replace"))

    def interrupt(self) -> None:
        """Interrupt the run: its command gets the signal too."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)

    def leave(self) -> None:
        """Let the process run on. A thread waits for it, so that it does not stay as a zombie."""
        self.output.close()
        self.messages.close()
        Thread(target=self.process.wait, daemon=True).start()


def start_process(words: Sequence[str], folder: str, given: str = "") -> Running:
    """Start `rdc run` with these words. `given` is its standard input.

    No output goes to a pipe, so the run continues after this process ends.
    """
    from tempfile import TemporaryFile  # noqa: PLC0415 (slow to import, and `rdc run` itself does without it)

    command = [sys.executable, "-P", "-m", "rdc", "run", "--", *words]  # -P: it imports nothing from the folder
    output, messages = TemporaryFile(), TemporaryFile()  # noqa: SIM115 (`Running` reads them)
    with TemporaryFile() as entered:
        entered.write(given.encode("utf-8", "surrogateescape"))
        entered.seek(0)
        process = subprocess.Popen(  # noqa: S603 (a list of words)
            command, cwd=folder, stdin=entered, stdout=output, stderr=messages, start_new_session=True
        )
    return Running(process, output, messages)


def run_process(words: Sequence[str], folder: str, given: str = "", timeout: float | None = None) -> Ended:
    """Run `rdc run` with these words until it ends, or until the time limit in seconds.

    A keyboard interrupt interrupts the run too. See `start_process`.
    """
    running = start_process(words, folder, given)
    try:
        running.process.wait(timeout)
    except subprocess.TimeoutExpired:
        running.leave()
        return Ended(None)
    except KeyboardInterrupt:
        running.interrupt()
        running.process.wait()
        raise
    return running.ended() or Ended(None)  # it has ended


def ask_program(words: Sequence[str], folder: str) -> Ended:
    """Run a Python program that needs no packages, such as `deploy.py status --json`, to its end."""
    script = os.path.join(os.curdir, words[0]) if words[0][0] == "-" else words[0]
    return finish_process([sys.executable, "-I", "-S", script, *words[1:]], folder)


def finish_process(command: Sequence[str], folder: str, given: bytes = b"", **more: str) -> Ended:
    """Run a command to its end, with standard input and more variables."""
    done = subprocess.run(  # noqa: S603 (a list of words)
        command, cwd=folder, input=given, env={**os.environ, **more}, capture_output=True, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def holder_of(directory: str) -> int | None:
    """Return the number of the process that has a run by its state directory: 0 if it is unknown, None without one."""
    store = Store(directory)
    if not store.is_busy():
        return None
    pid = store.holder().removeprefix("pid ").partition(",")[0]
    return int(pid) if pid.isascii() and pid.isdecimal() and len(pid) < 10 else 0


def interrupt_holder(directory: str) -> None:
    """Interrupt the process that has a run, if it is one of `start_process`: it leads a session without a terminal."""
    with suppress(ProcessLookupError, PermissionError):
        if (pid := holder_of(directory)) and os.getsid(pid) == pid:
            os.kill(pid, signal.SIGINT)
