"""Processes for the script of a Makefile, which end with it, and commands with a time limit (I21)."""

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runtime_shim.legacy.display import Display
from runtime_shim.legacy.helper import REQUESTS
from runtime_shim.legacy.leftover import end_groups, is_alive, started_at
from runtime_shim.legacy.process import Processes, in_words
from runtime_shim.legacy.program import EXIT_INTERRUPTED, Table
from runtime_shim.legacy.signals import Interrupted, held_back

TICK = 0.05  # seconds between two looks at whether the script still lives
LATE, NOT_BEGUN, NOT_FOUND = 124, 126, 127  # exit codes by which the script knows how a command ended


@contextmanager
def running(driver: str, left: str, display: Display) -> Iterator[Processes]:
    """Let processes run until this one is told to end, or the script that drives it is gone.

    `driver` is the process of the script, and `left` the file of what it has begun: what was left behind there by one
    that was killed is ended first.
    """
    end_left(left)
    for number in (signal.SIGINT, signal.SIGQUIT):  # a shell has what runs beside it ignore them
        signal.signal(number, signal.SIG_DFL)
    with held_back() as signals:
        display.gives_up = signals.has_come
        threading.Thread(target=end_with, args=(int(driver),), daemon=True).start()
        try:
            yield Processes(signals, os.isatty(0) and os.isatty(2), lambda group: begun(left, group))
        except Interrupted:
            sys.exit(EXIT_INTERRUPTED)


def end_with(driver: int) -> None:
    """End this process, and so all that it has begun, as soon as the script is gone."""
    while os.getppid() == driver:
        time.sleep(TICK)
    os.kill(os.getpid(), signal.SIGTERM)


def begun(left: str, group: int) -> None:
    """Note a process, to be found again if this one is killed."""
    with suppress(OSError), Path(left).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"pid": group, "since": started_at(group)}) + "\n")


def _alive(left: str) -> list[Table]:
    """Return the processes of a file that still run; none if it cannot be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return [found for found in map(json.loads, Path(left).read_text().splitlines()) if is_alive(found)]
    return []


def end_left(left: str) -> str:
    """End the processes of a file that still run."""
    end_groups(_alive(left))
    with suppress(OSError):
        Path(left).unlink()
    return ""


def living(left: str) -> str:
    """Return the numbers of the processes of a file that still run."""
    return ", ".join(str(found["pid"]) for found in _alive(left))


def limited(driver: str, left: str, seconds: str, *words: str) -> str:
    """Run a command with a time limit and end as it ends."""
    path = shutil.which(words[0])
    if path is None:
        sys.exit(NOT_FOUND)
    display = Display(sys.stderr)
    with running(driver, left, display) as processes:
        try:
            group = processes.spawn(path, list(map(os.fsencode, words)), os.environb)
        except OSError:
            sys.exit(NOT_BEGUN)
        (code,) = processes.watch([group], int(seconds))
    end_left(left)
    if code is None:
        display.line(f"    {in_words(code)}")
        sys.exit(LATE)
    sys.exit(0 if code == 0 else 1)


REQUESTS.update({"limited": limited, "end": end_left, "living": living})
