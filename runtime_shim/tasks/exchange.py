"""Exchanges with processes: a text to standard input, what comes on standard output captured (I11)."""

import codecs
import json
import os
import select
import shlex
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Callable, NamedTuple

from runtime_shim.engine.signals import signal_groups
from runtime_shim.tasks.process import PATIENCE, Code, Processes, in_words
from runtime_shim.tasks.reading import LARGEST_ANSWER

SH = "/bin/sh"
PIECE = 65536
LOOK = 100  # milliseconds until an exchange looks again whether its process has ended
GRACE_AFTER = 1.0  # seconds that what a process has left behind may still write

Show = Callable[[str], None]


class Exchange(threading.Thread):
    """One exchange, by a thread: the runner itself waits for signals. `shown` is told the lines of the answer.

    A thread for each keeps a process that reads nothing, or never ends its output, from holding up another one.
    """

    def __init__(self, given: bytes, shown: Show) -> None:
        super().__init__(daemon=True)
        self.answer = bytearray()
        self._given = memoryview(given)
        self._shown = shown
        self._group = 0
        self._over = threading.Event()
        self._theirs, self._to = os.pipe()
        self._from, self._back = os.pipe()
        for descriptor in (self._to, self._from):
            os.set_blocking(descriptor, False)

    @property
    def files(self) -> list[Any]:
        """What the process is to find as its standard input and output."""
        return [(os.POSIX_SPAWN_DUP2, self._theirs, 0), (os.POSIX_SPAWN_DUP2, self._back, 1)]

    @property
    def is_too_long(self) -> bool:
        """Whether more was said than an answer may have."""
        return len(self.answer) > LARGEST_ANSWER

    def begin(self, group: int) -> None:
        """Exchange with this process, which has been begun with `files`."""
        self._group = group
        os.close(self._theirs)
        os.close(self._back)
        self.start()

    def abandon(self) -> None:
        """Close everything: the process could not be begun."""
        for descriptor in (self._theirs, self._back, self._to, self._from):
            os.close(descriptor)

    def finish(self) -> None:
        """Take what is there once the process has ended; one that it left behind does not write for long."""
        self._over.set()
        self.join(GRACE_AFTER)
        if self.is_alive():
            signal_groups([self._group], signal.SIGKILL)
            self.join()  # who is shown the answer may hold it up, and nothing of it must be lost

    def run(self) -> None:
        """Give and take until the output ends."""
        lines = Lines(self._shown)
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        poll.register(self._to, select.POLLOUT)
        is_giving, deadline = True, 0.0
        while not self.is_too_long:
            if self._over.is_set() and not deadline:
                deadline = time.monotonic() + GRACE_AFTER
            is_late = deadline and time.monotonic() > deadline
            ready = dict(poll.poll(0 if is_late else LOOK))
            if self._to in ready and not self._give():
                poll.unregister(self._to)
                os.close(self._to)
                is_giving = False
            if self._from in ready:
                data = os.read(self._from, PIECE)
                if not data:
                    break
                self.answer += data
                lines.take(data)
            elif is_late:
                break
        lines.take(b"", is_last=True)
        os.close(self._from)
        if is_giving:
            os.close(self._to)
        if self.is_too_long:
            self._end()

    def _give(self) -> bool:
        """Write a piece; tells whether there is more that somebody reads."""
        if self._given:
            with suppress(BlockingIOError):
                try:
                    self._given = self._given[os.write(self._to, self._given[:PIECE]) :]
                except BrokenPipeError:  # it does not read all of it, and need not
                    return False
        return bool(self._given)

    def _end(self) -> None:
        signal_groups([self._group], signal.SIGTERM)
        signal_groups([self._group], signal.SIGCONT)
        if not self._over.wait(PATIENCE):
            signal_groups([self._group], signal.SIGKILL)


class Lines:
    """Cuts what arrives in pieces into lines."""

    def __init__(self, shown: Show) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._shown = shown
        self._rest = ""

    def take(self, data: bytes, is_last: bool = False) -> None:
        """Pass on the lines that are whole, all that came together at once."""
        *whole, self._rest = (self._rest + self._decoder.decode(data, is_last)).split("\n")
        if self._rest and (is_last or len(self._rest) > PIECE):
            whole.append(self._rest)
            self._rest = ""
        if whole:
            self._shown("\n".join(whole))


class Call(NamedTuple):
    """A command for `sh -c`, its environment, what it gets on standard input, and who is shown its answer."""

    command: str
    environment: Mapping[bytes, bytes]
    given: bytes
    shown: Show


class Answered(NamedTuple):
    """What a called command said, and why that is no answer (I11), "" if it is one."""

    answer: bytes
    trouble: str


def exchange(
    processes: Processes, calls: Sequence[Call], seconds: int, ended: Callable[[int], None] = lambda _index: None
) -> list[Answered]:
    """Call commands at the same time (I21)."""
    exchanges: list[Exchange] = []
    groups: list[int] = []
    try:
        for call in calls:
            exchanges.append(Exchange(call.given, call.shown))
            words = [b"sh", b"-c", os.fsencode(call.command)]
            groups.append(processes.spawn(SH, words, call.environment, exchanges[-1].files))
            exchanges[-1].begin(groups[-1])
    except OSError:
        for one in exchanges[len(groups) :]:
            one.abandon()
        signal_groups(groups, signal.SIGKILL)
        for group in groups:
            os.waitpid(group, 0)
        raise

    def finished(index: int, code: Code) -> None:
        exchanges[index].finish()
        processes.said = _answered(exchanges[index], code)
        ended(index)

    how = processes.watch(groups, seconds, finished)
    return list(map(_answered, exchanges, how))


def _answered(one: Exchange, code: Code) -> Answered:
    if one.is_too_long:
        return Answered(b"", f"more than {LARGEST_ANSWER:,} bytes")
    return Answered(bytes(one.answer), in_words(code))


class SearchError(Exception):
    """What kept a process from looking for a pattern."""


def child_says(processes: Processes, code: str, given: object, seconds: int, *flags: str) -> bytes:
    """Return what a small program of Python says of a JSON value, in a process of its own."""
    words = [sys.executable, "-I", *flags, "-W", "ignore", "-c", code, str(seconds)]
    call = Call(f"exec {shlex.join(words)}", os.environb, json.dumps(given).encode(), lambda _lines: None)
    (answered,) = exchange(processes, [call], seconds)
    if answered.trouble:
        raise SearchError(answered.trouble)
    return answered.answer
