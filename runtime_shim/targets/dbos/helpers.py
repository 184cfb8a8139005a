"""The server that forks a helper process for each leg, and the channel between a helper and its worker.

The server is started before the worker has threads, so a leg starts in milliseconds. Helper and worker exchange lines
of JSON: the helper sends each record and waits until the worker has recorded it.
"""

import json
import os
import select
import signal
import socket
import threading
from contextlib import suppress
from typing import Callable

from runtime_shim.engine.program import Table


class Channel:
    """Lines of JSON over a socket."""

    def __init__(self, end: socket.socket) -> None:
        self._socket, self._rest, self._lock = end, b"", threading.Lock()

    def send(self, message: Table) -> None:
        """Send a message; do nothing if no one is there."""
        with self._lock, suppress(OSError):
            self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, seconds: "float | None" = None) -> "Table | None":
        """Return the next message; None if the other side is gone or silent for some seconds."""
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            try:
                data = self._socket.recv(1 << 16) if select.select([self._socket], [], [], seconds)[0] else b""
            except OSError:
                data = b""
            if not data:
                return None
            parts.append(data)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        message: Table = json.loads(line)
        return message

    def close(self) -> None:
        """End the conversation."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class Helpers:
    """The server that forks helpers; it ends with its worker."""

    def __init__(self, run_leg: Callable[[Channel], None]) -> None:
        self._control, theirs = socket.socketpair()
        self._server = os.fork()
        if self._server == 0:
            self._control.close()
            self._serve(theirs, run_leg)
        theirs.close()

    def is_alive(self) -> bool:
        """Return whether the server still runs."""
        return os.waitpid(self._server, os.WNOHANG)[0] == 0

    def start(self) -> Channel:
        """Start a helper, and return the channel to it."""
        ours, theirs = socket.socketpair()
        socket.send_fds(self._control, [b"."], [theirs.fileno()])
        theirs.close()
        return Channel(ours)

    @staticmethod
    def _serve(control: socket.socket, run_leg: Callable[[Channel], None]) -> None:
        os.setsid()  # Ctrl-C is for the worker
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # helpers need no one to wait for them
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        while True:
            data, files, _, _ = socket.recv_fds(control, 1, 1)
            if not data:
                os._exit(0)
            if os.fork() == 0:
                control.close()
                os.set_inheritable(files[0], False)  # a command that has it would keep the worker waiting
                for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, signal.SIG_DFL)
                try:
                    run_leg(Channel(socket.socket(fileno=files[0])))
                finally:
                    os._exit(0)
            os.close(files[0])
