"""A generated program as a process."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.equivalence.difference import DifferenceError
from tests.equivalence.execution import Trial

PATIENCE = 60.0


class Done(NamedTuple):
    """What a process has said, and how it ended."""

    code: int
    output: str
    errors: str

    @property
    def said(self) -> str:
        """All of it."""
        return self.output + self.errors


NOTHING: Mapping[str, str] = {}


def run(trial: Trial, words: Sequence[str], extra: Mapping[str, str] = NOTHING) -> Done:
    """Run a program to its end, without a terminal; that it has none is a difference too."""
    try:
        done = subprocess.run(
            words,
            cwd=trial.folder,
            env={**trial.environment, **extra},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"{words[0]} after {PATIENCE} s", "still running", "an end") from late
    output, errors = (text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr))
    return Done(done.returncode, output, errors)


def last_line(text: str) -> str:
    """The last line of a text."""
    return (text.splitlines() or [""])[-1]
