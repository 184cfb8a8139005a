"""Makefiles that run by themselves: how their loop ended, terminals for make, and processes that it has begun."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.backend_programs import Made
from tests.support.makefiles import PATIENCE, Place, environment, kill_all

RUN = ".rdc/main.make/run"


def code(done: subprocess.CompletedProcess[str]) -> int:
    """The exit code of the loop, which make shows after `Error`; make itself ends with 0 or 2."""
    if not done.returncode:
        return 0
    found = re.findall(r"(?:run|resume|retry|clean)\] Error (\d+)", done.stderr)
    return int(found[-1]) if found else -1


def ending(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    """How the loop ended, and the last line on standard output."""
    return code(done), (done.stdout.splitlines() or [""])[-1]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def locks(place: Place) -> list[str]:
    return [path.name for path in (place.folder / ".rdc" / "main.make").iterdir() if path.name.startswith("lock")]


def holder(place: Place) -> int:
    """The loop that runs."""
    return int(str((place.folder / ".rdc" / "main.make" / "lock").readlink()).split("@")[0])


class Terminal:
    """make with a terminal of its own, at which a person types."""

    def __init__(self, place: Place | Made, *words: str, **variables: str) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            ["make", *words],
            cwd=place.folder,
            env=environment(variables),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (so that keys send signals)
        )
        os.close(slave)
        self.shown = ""

    def type(self, text: str, after: str) -> None:
        """Type a text once another one was shown, behind what was typed last."""
        seen = len(self.shown)
        while after not in self.shown[seen:]:
            piece = self._read()
            assert piece, self.shown
            self.shown += piece
        os.write(self.master, text.encode())

    def _read(self) -> str:
        if not select.select([self.master], [], [], PATIENCE)[0]:
            kill_all(self.process.pid)
            raise AssertionError(self.shown)
        try:
            return os.read(self.master, 4096).decode(errors="replace")
        except OSError:  # how Linux says that nobody holds the other end any more
            return ""

    def hang_up(self) -> None:
        os.close(self.master)
        self.master = -1

    def end(self) -> str:
        while piece := self._read() if self.master >= 0 else "":
            self.shown += piece
        self.process.wait(PATIENCE)
        if self.master >= 0:
            os.close(self.master)
        lines: list[str] = re.findall("rdc: .*$", self.shown.replace("\r", ""), re.MULTILINE)
        return lines[-1]
