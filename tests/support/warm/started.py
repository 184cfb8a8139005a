"""A process that was forked and goes on beside its caller."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO


class Started:
    """What a test needs of `subprocess.Popen`; without its own pipes, as at a terminal, it has no text."""

    def __init__(self, words: Sequence[str], channel: socket.socket, pid: int, pipes: Sequence[int] = ()) -> None:
        self.args, self.pid, self._channel = words, pid, channel
        self.returncode: int | None = None
        files = [os.fdopen(pipe, encoding="utf-8") for pipe in pipes]
        self.stdout: IO[str] | None = files[0] if files else None
        self.stderr: IO[str] | None = files[1] if files else None
        self._output: list[bytearray] = [bytearray() for _ in files]

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return the exit code, or the negative number of a signal."""
        if self.returncode is None:
            self._channel.settimeout(timeout)
            try:
                answer = self._channel.recv(8)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            assert answer, "the process that forks has ended; its message is on standard error"
            self.returncode = os.waitstatus_to_exitcode(int.from_bytes(answer, "big"))
            self._channel.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit code if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end and return all that it prints."""
        deadline = None if timeout is None else time.monotonic() + timeout
        files = [file for file in (self.stdout, self.stderr) if file and not file.closed]
        try:
            read(files, self._output, deadline)
        except TimeoutError:
            raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
        self.wait(None if deadline is None else max(deadline - time.monotonic(), 0.001))
        for file in files:
            file.close()
        out, err = (text.decode() for text in self._output)
        return out, err

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def read(files: Sequence[IO[bytes] | IO[str]], output: Sequence[bytearray], deadline: float | None) -> None:
    """Read all that comes by pipes until nobody can write there any more; raise TimeoutError at the deadline."""
    texts = {file.fileno(): text for file, text in zip(files, output, strict=True)}
    with selectors.DefaultSelector() as selector:
        for number in texts:
            selector.register(number, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(None if deadline is None else max(deadline - time.monotonic(), 0))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                part = os.read(key.fd, 1 << 16)
                texts[key.fd] += part
                if not part:
                    selector.unregister(key.fd)
