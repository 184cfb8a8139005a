"""Workers of the dbos target in the background, for drivers that compare their runs.

A worker is forked by a process that has imported DBOS, which takes five times as long as the rest of its start.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.equivalence.difference import DifferenceError, same
from tests.support import warm

RUN = "r"
NAME = "runs.sqlite"
DATABASE = ("--database", f"sqlite:///{NAME}")
RUNS = 3
"""The exit code of a call about a run that a worker has, or will have."""

POLL, PAUSE, PATIENCE = "0.05", 0.02, 90.0
"""In seconds."""

POOL = ThreadPoolExecutor(2)
"""Each thread has a process that forks."""


def missing() -> str:
    """What this machine lacks for workers."""
    return "" if find_spec("dbos") else "dbos is not installed"


@contextmanager
def working(
    program: Sequence[str], folder: Path, environment: Mapping[str, str] | None, words: Sequence[str] = ()
) -> Iterator[list[str]]:
    """Have a worker in a folder; the list gets what it has said, at its end."""
    said: list[str] = []
    command = [*program, "worker", "--jobs", "1", "--poll", POLL, *words, *DATABASE]
    ended = POOL.submit(warm.run, command, cwd=folder, env=environment, timeout=PATIENCE, loads="dbos")
    try:
        _await_tables(folder / NAME, ended)
        yield said
    except BaseException:
        for _ in range(2):  # the second signal ends its commands
            _signal(folder, signal.SIGTERM)
            time.sleep(0.2)
        raise
    finally:
        _signal(folder, signal.SIGKILL)
        done = ended.result(PATIENCE)
        said += [text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr)]


def _await_tables(database: Path, ended: Future[CompletedProcess[bytes]]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not _has_queue(database):
        if ended.done():
            raise DifferenceError("a worker", ended.result().stderr.decode(errors="replace"), "a start")
        if time.monotonic() > deadline:
            raise DifferenceError("a worker", "no start", f"one within {PATIENCE} s")
        time.sleep(PAUSE)


def _has_queue(database: Path) -> bool:
    """Whether a worker listens, which is the last that it does before it is ready."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        return bool(connection.execute("SELECT 1 FROM queues").fetchone())
    return False


def _signal(folder: Path, number: int) -> None:
    """Send a signal to the worker of a folder, whose lease is named `HOST:PID:RANDOM`."""
    for lease in (folder / f"{NAME}.workers").glob("*:*:*"):
        with suppress(ProcessLookupError):
            os.kill(int(lease.name.split(":")[1]), number)


def settled(call: Callable[..., Any]) -> dict[str, Any]:
    """The status of the run as soon as no worker has it; `call` calls the program with some words."""
    deadline = time.monotonic() + PATIENCE
    while (done := call("status", RUN, "--json")).code == RUNS:
        if time.monotonic() > deadline:
            raise DifferenceError("a run", done.output, f"an end or a question within {PATIENCE} s")
        time.sleep(PAUSE)
    same("whether there is a status", bool(done.output), True, done.said)
    facts: dict[str, Any] = json.loads(done.output)
    return facts


def records(folder: Path) -> str:
    """All that the database holds."""
    files = (folder / f"{NAME}{more}" for more in ("", "-wal"))
    return "".join(path.read_bytes().decode(errors="backslashreplace") for path in files if path.exists())
