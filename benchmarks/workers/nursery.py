"""Workers that start at once: one process has loaded DBOS, and forks for each of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

FORKS = """
import gc, json, os, sys
import dbos, dbos._sys_db_sqlite, psycopg, sqlalchemy.dialects.postgresql.psycopg, sqlalchemy.dialects.sqlite, sqlite3
kept = {}
gc.freeze()
print(0, flush=True)
for line in sys.stdin:
    words, folder, log, environment = json.loads(line)
    text = open(words[0], encoding="utf-8").read()
    own = text.find("\\n# The runtime of rdc ")  # the rest is the same in most programs
    parts = [text[:own], text[own:]] if own > 0 else [text]
    for part in parts:
        if part not in kept:
            kept[part] = compile(part, words[0], "exec")
    if os.fork() == 0:
        worker = os.fork()
        if worker == 0:
            os.setpgid(0, 0)
            said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for stream, file in enumerate((os.open(os.devnull, os.O_RDONLY), said, said)):
                os.dup2(file, stream)
            os.closerange(3, 64)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            sys.argv = words
            program = {"__name__": "__main__", "__file__": words[0]}
            for part in parts:
                exec(kept[part], program)
            sys.exit(0)
        print(worker, flush=True)
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        with open(f"{log}.part", "w") as file:
            file.write(str(code))
        os.rename(f"{log}.part", f"{log}.code")
        os._exit(0)
"""


class Process(Protocol):
    """A process, for a fleet."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process ends, and return its exit code."""

    def send_signal(self, sig: int, /) -> None:
        """Send a signal."""

    def kill(self) -> None:
        """Kill the process."""


class ForkedProcess:
    """A worker that the nursery has forked."""

    def __init__(self, pid: int, log: Path) -> None:
        self.pid, self._code = pid, Path(f"{log}.code")
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        if self.returncode is None:
            with suppress(FileNotFoundError):
                self.returncode = int(self._code.read_text())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process ends, and return its exit code."""
        deadline = time.monotonic() + (60 if timeout is None else timeout)
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self.pid} still runs")
            time.sleep(0.01)
        return code

    def send_signal(self, sig: int, /) -> None:
        """Send a signal."""
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process that forks workers."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=self._folder.name,
        )  # fmt: skip
        self._read()

    def _read(self) -> int:
        if self._process.stdout is None or not (line := self._process.stdout.readline()):
            raise RuntimeError("the nursery has ended")
        return int(line)

    def start(self, words: list[str], folder: Path, log: Path, environment: Mapping[str, str]) -> ForkedProcess:
        """Start a worker."""
        if self._process.stdin is None:
            raise RuntimeError("the nursery has ended")
        self._process.stdin.write(json.dumps([words, str(folder), str(log), dict(environment)]) + "\n")
        self._process.stdin.flush()
        return ForkedProcess(self._read(), log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()
