"""A generated program as a process."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.equivalence.difference import DifferenceError, same
from tests.equivalence.execution import Workspace
from tests.support import warm

PATIENCE = 60.0


class Done(NamedTuple):
    """What a process has said, and how it ended."""

    code: int
    output: str
    errors: str
    seconds: float

    @property
    def said(self) -> str:
        """All of it."""
        return self.output + self.errors


NOTHING: Mapping[str, str] = {}


def run(workspace: Workspace, words: Sequence[str], extra: Mapping[str, str] = NOTHING) -> Done:
    """Run a program to its end, without a terminal; that it has none is a difference too."""
    began = time.monotonic()
    try:
        done = warm.run(words, cwd=workspace.folder, env={**workspace.environment, **extra}, timeout=PATIENCE)
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"{words[0]} after {PATIENCE} s", "still running", "an end") from late
    output, errors = (text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr))
    return Done(done.returncode, output, errors, time.monotonic() - began)


def check_waiting(workspace: Workspace, done: Done) -> None:
    """A run that was not cut short has waited for all its timeouts, and between attempts (I21, I22)."""
    same("whether the run has waited", done.seconds >= workspace.scenario.trace.seconds - 0.05, True, done.said)


def last_line(text: str) -> str:
    """The last line of a text."""
    return (text.splitlines() or [""])[-1]


def check_end(workspace: Workspace, line: str, said: str) -> None:
    """Compare a last line with the end; a question mark may stand for what no terminal shows as it is."""
    same("the last line", _plain(line), _plain(f"rdc: {workspace.end}"), said)


def is_at(line: str, label: str) -> bool:
    """Whether a Makefile that runs by itself waits at a step, which has a name without what make would read."""
    name = re.sub(r"[^A-Za-z0-9_.{}/~-]+", "-", label)
    return re.fullmatch(rf"rdc: WAITING {re.escape(name)}(?:[-~.]\d+)?( was interrupted)?", line) is not None


def _plain(text: str) -> str:
    return "".join(character for character in text if character.isprintable() and character not in " ?")
