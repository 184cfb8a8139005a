"""Leases show which workers are alive, and helpers run legs. The database or the kernel ends a dead worker's lease.

With PostgreSQL, a lease is a session lock on its own connection, which the server ends when it hears nothing for
`LEASE` seconds. With SQLite, it is a lock on a file beside the database, which lasts as long as the process.
"""

import fcntl
import hashlib
import json
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Callable

from runtime_shim.engine.private import DIRECTORY, Folder, opened_folder
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.targets.dbos.legs import Legs

BEAT = 0.5  # seconds between two signs of life
FENCE = 6.0  # seconds without a sign of life after which a worker and its helpers end their commands
LEASE = 8  # seconds without a sign of life after which PostgreSQL ends a lease
GONE = 3.0  # seconds that a lease must be free before others take over: time to get a lost connection back


def key_of(*words: str) -> int:
    """Return the number of a lock."""
    return int.from_bytes(hashlib.sha256("\0".join(words).encode()).digest()[:8], "big", signed=True)


class Leases:
    """This worker's lease, and a look at those of others. A lock for the version is shared by all its workers."""

    def __init__(self, database: Legs) -> None:
        self._database = database
        self._files: list[int] = []
        self._connection: Any = None
        self._free_since: dict[str, float] = {}

    # --- This worker's lease ---

    def take(self, worker: str, version: str) -> None:
        """Take the lease of a worker, and its share in that of its version."""
        self._mine = (worker, version)
        if not self._database.is_sqlite:
            self._take_locks()
            return
        for name, how in ((worker, fcntl.LOCK_EX), (f"version-{version}", fcntl.LOCK_SH)):
            self._files.append(self._open(name, os.O_CREAT))
            fcntl.flock(self._files[-1], how)

    def _open(self, name: str, more: int = 0) -> int:
        path = f"{self._database.path}.workers"
        folder = opened_folder(path) if more else Folder(os.open(path, DIRECTORY), path)
        try:
            return folder.open(name, os.O_RDWR | more)
        finally:
            os.close(folder.at)

    def _take_locks(self) -> None:
        worker, version = self._mine
        connection = self._database.connect()
        with self._database.worded():
            if connection.execute("SELECT pg_backend_pid()").fetchone()[0] != connection.info.backend_pid:
                connection.close()
                why = "its locks end with each transaction; use the address of the server itself"
                raise UsageError(f"{self._database.shown} is a connection pool such as PgBouncer: {why}")
            for setting in (f"idle_session_timeout = '{LEASE}s'", "tcp_keepalives_idle = 3"):
                with suppress(Exception):  # PostgreSQL 13 has no time limit for idle sessions
                    connection.execute(f"SET {setting}")
            application = self._database.application
            (is_ours,) = connection.execute("SELECT pg_try_advisory_lock(%s)", [key_of(application, worker)]).fetchone()
            if not is_ours:  # the server has not noticed yet that the old connection is gone
                connection.close()
                raise UsageError(f"the lease of {worker} is still taken")
            connection.execute("SELECT pg_advisory_lock_shared(%s)", [key_of(application, "version", version)])
        self._connection = connection

    def beat(self) -> bool:
        """Renew the lease, and return whether this worker has it. Try to get a lost one back."""
        if self._database.is_sqlite:
            return os.fstat(self._files[0]).st_nlink > 0  # without its file, this worker looks dead
        with suppress(Exception):  # the server is gone for any reason
            if self._connection is None:
                self._take_locks()
            self._connection.execute("SELECT 1")
            return True
        with suppress(Exception):
            self._connection.close()
        self._connection = None
        return False

    def give_back(self) -> None:
        """End the lease."""
        with suppress(Exception):  # anything else ends with the process
            if self._database.is_sqlite:
                os.unlink(os.path.join(f"{self._database.path}.workers", self._mine[0]))
            self._connection.close()

    # --- Other workers ---

    def is_free(self, name: str) -> bool:
        """Return whether no one has a lease: of a worker, or any for `version-VERSION`."""
        if self._database.is_sqlite:
            try:
                file = self._open(name)
            except OSError:
                return True
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            finally:
                os.close(file)
            return True
        key = key_of(self._database.application, *(name.split("-", 1) if name.startswith("version-") else [name]))
        here = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        query = f"SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND {here}"
        halves = key >> 32 & 0xFFFFFFFF, key & 0xFFFFFFFF
        return not self._database.rows(f"{query} AND classid = ? AND objid = ?", *halves)

    def dead(self, workers: list[str]) -> list[str]:
        """Return the workers whose lease has been free for some time."""
        free = {worker for worker in workers if self.is_free(worker)}
        self._free_since = {worker: self._free_since.get(worker, time.monotonic()) for worker in free}
        wait = 0.0 if self._database.is_sqlite else GONE
        return [worker for worker in sorted(free) if time.monotonic() - self._free_since[worker] >= wait]

    @contextmanager
    def hold(self, worker: str) -> Iterator[bool]:
        """Hold the lease of a dead worker while its legs are queued again; give False if someone else holds it."""
        if self._database.is_sqlite:
            file = self._open(worker, os.O_CREAT)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield True
                os.unlink(os.path.join(f"{self._database.path}.workers", worker))
            except BlockingIOError:
                yield False
            finally:
                os.close(file)
            return
        key = [key_of(self._database.application, worker)]
        (is_mine,) = self._connection.execute("SELECT pg_try_advisory_lock(%s)", key).fetchone()
        try:
            yield is_mine
        finally:
            if is_mine:
                self._connection.execute("SELECT pg_advisory_unlock(%s)", key)


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
