"""Exchanges with processes: text on standard input, and the answer on standard output."""

import json
import os
import select
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Callable, NamedTuple

from runtime_shim.engine.signals import signal_groups
from runtime_shim.io.reading import LARGEST_ANSWER
from runtime_shim.tasks.process import PATIENCE, Environment, Processes, in_words, kill

SH = "/bin/sh"
PIECE = 65536
GRACE_AFTER = 1.0  # seconds that leftover processes may still write


class Call(NamedTuple):
    """A command for `sh -c`, its environment, its standard input, and a function that shows its answer."""

    command: str
    environment: Environment
    given: bytes
    shown: Callable[[str], None]


class Answered(NamedTuple):
    """A command's answer, and why it does not count, or ""."""

    answer: bytes
    trouble: str


@contextmanager
def file_with(given: bytes) -> Iterator[BinaryIO]:
    """Open an unnamed file with this content as a process's standard input."""
    import tempfile  # slow to import

    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(given)
        file.seek(0)
        yield file


class Exchange:
    """A process and its answer, whose lines `shown` gets.

    The runner waits for signals, so a thread for each process takes its answer.
    """

    def __init__(self, processes: Processes, call: Call) -> None:
        import threading  # slow to import

        self.answer, self._rest, self._shown = bytearray(), b"", call.shown
        self._over, self._thread = threading.Event(), threading.Thread(target=self._take, daemon=True)
        self._from, to = os.pipe()
        try:
            with file_with(call.given) as given:
                files = [(os.POSIX_SPAWN_DUP2, given.fileno(), 0), (os.POSIX_SPAWN_DUP2, to, 1)]
                self.group = processes.spawn(SH, [b"sh", b"-c", os.fsencode(call.command)], call.environment, files)
        except OSError:
            os.close(self._from)
            raise
        finally:
            os.close(to)
        self._thread.start()

    def finish(self, code: "int | None") -> Answered:
        """Return the whole answer after the process has ended. Leftover processes get a second to write."""
        self._over.set()
        self._thread.join(GRACE_AFTER)
        if self._thread.is_alive():
            signal_groups([self.group], signal.SIGKILL)
            self._thread.join()  # showing may be slow, but must not lose anything
        if len(self.answer) > LARGEST_ANSWER:
            return Answered(b"", f"more than {LARGEST_ANSWER:,} bytes")
        return Answered(bytes(self.answer), in_words(code))

    def _take(self) -> None:
        """Read the output until it ends or is too long."""
        poll, deadline, data = select.poll(), float("inf"), b" "
        poll.register(self._from, select.POLLIN)
        while data and len(self.answer) <= LARGEST_ANSWER:
            if self._over.is_set():
                deadline = min(deadline, time.monotonic() + GRACE_AFTER)
            if time.monotonic() > deadline or poll.poll(100):
                data = os.read(self._from, PIECE) if poll.poll(0) else b""
                self.answer += data
                self._show(data)
        self._show(b"", is_last=True)
        os.close(self._from)
        if data:  # it is too long
            signal_groups([self.group], signal.SIGTERM, signal.SIGCONT)
            if not self._over.wait(PATIENCE):
                signal_groups([self.group], signal.SIGKILL)

    def _show(self, data: bytes, is_last: bool = False) -> None:
        """Show the complete lines that arrived, all at once."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (is_last or len(self._rest) > PIECE):
            whole, self._rest = [*whole, self._rest], b""
        if whole:
            self._shown(b"\n".join(whole).decode("utf-8", "replace"))


def exchange(
    processes: Processes, calls: Sequence[Call], seconds: int, ended: Callable[[int], None] = lambda _index: None
) -> list[Answered]:
    """Call commands at the same time, with a time limit, and return their answers."""
    exchanges: list[Exchange] = []
    found: dict[int, Answered] = {}
    try:
        for call in calls:
            exchanges.append(Exchange(processes, call))  # the started ones are known if one fails
    except OSError:
        kill([one.group for one in exchanges])
        raise

    def finished(index: int, code: "int | None") -> None:
        processes.said = found[index] = exchanges[index].finish(code)
        ended(index)

    processes.watch([one.group for one in exchanges], seconds, finished)
    return [found[index] for index in range(len(calls))]


class SearchError(Exception):
    """A search for a pattern that did not finish."""


def child_says(processes: Processes, code: str, given: object, seconds: int, *flags: str) -> bytes:
    """Return the output of a small Python program for a JSON value, run in a separate process."""
    words = [sys.executable, "-I", *flags, "-W", "ignore", "-c", code, str(seconds)]
    call = Call(f"exec {shlex.join(words)}", os.environb, json.dumps(given).encode(), lambda _lines: None)
    (answered,) = exchange(processes, [call], seconds)
    if answered.trouble:
        raise SearchError(answered.trouble)
    return answered.answer
