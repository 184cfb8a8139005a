"""What a trial of a generated target is given, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from compiler.ir.program import Program
from compiler.ir.tasks import Verdict

ANSWERS = "answers"
RESULTS = "COMPLETE|STOP|WAITING"


class TrialError(Exception):
    """A trial could not be held or brought to its end. The argument says why, and what to do."""


class MissingToolError(Exception):
    """This machine lacks what runs a target. The argument says what, and where to get it."""


@dataclass(frozen=True)
class Setting:
    """One run of a target: the program, the options of the target, and what is answered to the prompts, in order.

    `workspace` is the folder in which it runs, `scratch` one beside it for whatever the trial needs. In a rehearsal the
    program has nothing of its document to execute. `timeout` is in seconds.
    """

    program: Program
    options: Mapping[str, object]
    answers: tuple[Verdict, ...]
    workspace: Path
    scratch: Path
    timeout: float
    is_rehearsal: bool

    def write(self, name: str, text: str) -> Path:
        """Write a file for the trial."""
        path = self.scratch / name
        path.write_bytes(text.encode())
        return path

    def write_answers(self) -> Path:
        """Write the answers to the prompts as programs take them, a line for each."""
        return self.write(ANSWERS, "".join(f"{answer}\n" for answer in self.answers))


class Step(NamedTuple):
    """A unit that a target has done; the attempt is None where the target does not tell."""

    unit: str
    attempt: int | None
    verdict: Verdict


class Run(NamedTuple):
    """What a target has done: the units, in order, and how it ended.

    `result` is COMPLETE or STOP with the message, WAITING with the unit, or "" with what went wrong.
    """

    steps: tuple[Step, ...]
    result: str
    message: str

    @classmethod
    def told(cls, steps: tuple[Step, ...], output: str, code: int, results: str = RESULTS) -> Run:
        """The run whose end stands near the end of an output, as in `rdc: STOP The disk is full`.

        A command may have left the line unfinished on which it stands, and what it left behind may say more: `results`
        are those that it can be, with `|` between them.
        """
        end = re.compile(rf"(?:|.*)rdc: (?P<result>{results})(?: (?P<message>.*))?$")
        lines = [line for line in output.splitlines() if line.strip()]
        for line in reversed(lines):
            if found := end.match(line):
                return cls(steps, found["result"], found["message"] or "")
        said = lines[-1] if lines else "it said nothing"
        return cls(steps, "", f"{said} ({_exit(code)})")


def _exit(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"ended by signal {-code}"
