"""A process that was forked and goes on beside its caller."""

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

    def __init__(
        self,
        words: Sequence[str],
        channel: socket.socket,
        pid: int,
        pipes: Sequence[int] = (),
        *,
        is_kept: bool = False,
    ) -> None:
        self.args, self.pid, self._channel, self._is_kept = words, pid, channel, is_kept
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
                status = number(self._channel)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self.returncode = os.waitstatus_to_exitcode(status)
            self._channel.settimeout(None)
            if not self._is_kept:
                self._channel.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit code if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end and return all that it prints."""
        out, err = (text.decode() for text in self.output(timeout))
        return out, err

    def output(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Wait for its end and return all that it prints as it is."""
        deadline = None if timeout is None else time.monotonic() + timeout
        files = [file for file in (self.stdout, self.stderr) if file and not file.closed]
        try:
            read(files, self._output, deadline)
        except TimeoutError:
            raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
        self.wait(None if deadline is None else max(deadline - time.monotonic(), 0.001))
        self.close()
        out, err = map(bytes, self._output)
        return out, err

    def close(self) -> None:
        """Close the pipes."""
        for file in filter(None, (self.stdout, self.stderr)):
            file.close()

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


def number(channel: socket.socket) -> int:
    """What the process that forks answers; it has ended where that is nothing."""
    answer = channel.recv(8)
    assert answer, "the process that forks has ended; its message is on standard error"
    return int.from_bytes(answer, "big")


def read(files: Sequence[IO[str]], output: Sequence[bytearray], deadline: float | None) -> None:
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
