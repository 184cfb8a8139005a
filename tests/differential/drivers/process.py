"""Generated programs as processes, killed with everything that they have begun where that is asked for."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.differential.case import DifferenceError, same
from tests.differential.drivers.workspace import FOLDER, Workspace
from tests.support import warm

PATIENCE = 90.0


class Done(NamedTuple):
    """What a process has printed, and how it ended."""

    code: int
    output: str
    errors: str

    @property
    def printed(self) -> str:
        """All of it."""
        return self.output + self.errors

    @property
    def last(self) -> str:
        """The last line on standard error."""
        return last_line(self.errors)


def run(workspace: Workspace, words: Sequence[str], extra: Mapping[str, str] | None = None, given: str = "") -> Done:
    """Run a program to its end, without a terminal."""
    try:
        done = warm.run(
            words,
            cwd=workspace.folder,
            env={**workspace.environment, **(extra or {})},
            input=given.encode("utf-8", "surrogateescape"),
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"{words[0]} after {PATIENCE} s", "still running", "an end") from late
    output, errors = (text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr))
    workspace.printed.append(output + errors)
    return Done(done.returncode, output, errors)


def killed(
    workspace: Workspace, words: Sequence[str], moments: random.Random, extra: Mapping[str, str] | None = None
) -> Done | None:
    """Begin a program and kill all of it at some moment; what it printed if it has ended before."""
    files = [(workspace.folder / name).open("wb") for name in ("printed.out", "printed.err")]
    process = subprocess.Popen(
        words,
        cwd=workspace.folder,
        env={**workspace.environment, **(extra or {})},
        stdin=subprocess.DEVNULL,
        stdout=files[0],
        stderr=files[1],
    )
    for file in files:
        file.close()
    _await_moment(workspace, process, moments)
    if process.poll() is None:
        process.kill()
        process.wait(PATIENCE)
        kill_rest(workspace.folder)
        return None
    output, errors = (
        (workspace.folder / name).read_bytes().decode(errors="backslashreplace")
        for name in ("printed.out", "printed.err")
    )
    return Done(process.returncode, output, errors)


def last_line(text: str) -> str:
    """The last line of a text."""
    return (text.splitlines() or [""])[-1]


def check_end(workspace: Workspace, line: str, output: str) -> None:
    """Compare a last line with the end; a question mark may stand for what no terminal shows as it is."""
    same("the last line", plain(line), plain(f"rdc: {workspace.end}"), output)


def is_at(line: str, step: str) -> bool:
    """Whether a Makefile that runs by itself waits at a step, which has a name without what make would read."""
    name = re.sub(r"[^A-Za-z0-9_.{}/~-]+", "-", step)
    return re.fullmatch(rf"rdc: WAITING {re.escape(name)}(?:[-~.]\d+)?( was interrupted)?", line) is not None


def plain(text: str) -> str:
    """A message without spaces, and without what no terminal shows as it is: a question mark stands for it."""
    return "".join(character for character in text if character.isprintable() and character not in " ?")


def _await_moment(workspace: Workspace, process: subprocess.Popen[bytes], moments: random.Random) -> None:
    """Some time after the start, or after some more calls have begun, however slow the machine is."""
    if moments.random() < 0.3:
        with suppress(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0.0, 0.3))
        return
    wanted = len(workspace.lines()) + moments.choice((1, 1, 2))
    deadline = time.monotonic() + PATIENCE
    while len(workspace.lines()) < wanted and process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            raise DifferenceError("a run", "stands still", "a call or an end")
        time.sleep(0.003)
    with suppress(subprocess.TimeoutExpired):
        process.wait(moments.uniform(0.0, 0.06))


def kill_rest(folder: Path) -> None:
    """Kill every process that knows of the folder, until there is none."""
    mark = f"{FOLDER}={folder}".encode()
    while found := [pid for pid in _processes() if _is_marked(pid, mark)]:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and int(path.name) != os.getpid()]


def _is_marked(pid: int, mark: bytes) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        return state not in "ZX" and mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
