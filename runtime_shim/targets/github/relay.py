"""A pipe for a step's output, so that none of it is a command to the runner, now or later."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time

COPIED = 65536
LOOK_AGAIN = 50  # milliseconds between checks whether the step is over
LINGER = 1.0  # seconds that leftover processes may still write


class Relay:
    """Standard output and error of a step as one pipe, which a thread copies to the log between two marks.

    Leftover processes hold the pipe, not the log, so they cannot write to it after the step.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._log, self._over = os.dup(1), threading.Event()
        self._word = f"rdc-{os.urandom(16).hex()}"
        self._from, into = os.pipe()
        os.set_blocking(self._from, False)
        os.dup2(into, 1)
        os.dup2(into, 2)
        os.close(into)
        self._print(f"::stop-commands::{self._word}")
        self._thread = threading.Thread(target=self._copy, daemon=True)
        before = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())  # the main thread waits for signals
        self._thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def end(self, *lines: str) -> None:
        """Close the pipe and print lines that may be commands."""
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(self._log, 1)
        os.dup2(self._log, 2)
        self._over.set()
        self._thread.join()
        for line in (f"\n::{self._word}::", *lines):
            self._print(line)

    def _print(self, line: str) -> None:
        _write(self._log, f"{line}\n".encode("utf-8", "replace"))

    def _copy(self) -> None:
        """Copy until the pipe is closed, or the step is over and nothing more arrives."""
        poll, deadline = select.poll(), 0.0
        poll.register(self._from, select.POLLIN)
        while not deadline or time.monotonic() < deadline:
            if self._over.is_set() and not deadline:
                deadline = time.monotonic() + LINGER
            if poll.poll(LOOK_AGAIN):
                data = os.read(self._from, COPIED)
                if not data:
                    break
                _write(self._log, data)
            elif deadline:
                break
        os.close(self._from)


def _write(file: int, data: bytes) -> None:
    """Write all data, even if a write takes only a part."""
    while data:
        data = data[os.write(file, data) :]
