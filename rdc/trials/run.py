"""What a trial of a generated target is given, and what came of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from backends.base import Emission
from backends.companions import Companion
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Program
from compiler.ir.tasks import Tool

ANSWERS = "answers"
RESULTS = "COMPLETE|STOP|WAITING"


class TrialError(Exception):
    """A trial could not be held or brought to its end. The argument says why, and what to do."""


class MissingToolError(Exception):
    """This machine lacks what runs a target. The argument says what, and where to get it."""


class Leg(Struct, frozen=True):
    """What is answered before the operator takes the run to a step, and that step."""

    answers: tuple[str, ...]
    step: str


_STAND_IN = "rdc-has-none-here"
"""Stands for a secret where nothing reads one; no text of a document is likely to have it, which would be masked."""


class Setting(Struct, frozen=True):
    """One run of a target: the program, the options of the target, and what is answered to the prompts, in order.

    `workspace` is the folder in which it runs, `scratch` one beside it for whatever the trial needs. In a mock run the
    program has nothing of its document to execute. `timeout` is in seconds; `inputs` are given when the run
    begins. With jumps `answers` are those after the last one; `is_prompted` says that the program is to execute nothing
    and to ask for each outcome. `replies` are answers with their steps where they are texts; `callee` is the command
    that stands for all agents and tools, "" where there are none.
    """

    program: Program
    options: Mapping[str, object]
    answers: tuple[str, ...]
    workspace: Path
    scratch: Path
    timeout: float
    is_mock: bool
    legs: tuple[Leg, ...] = ()
    is_prompted: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict)
    replies: tuple[tuple[str, str], ...] = ()
    callee: str = ""

    @property
    def tools(self) -> dict[str, str]:
        """The command of each connection."""
        tasks = (node.task for node in self.program.nodes)
        return {task.connection: self.callee for task in tasks if isinstance(task, Tool)} if self.callee else {}

    @property
    def environment(self) -> dict[str, str]:
        """What the environment of the program needs: its secrets, and the agent, which is to answer no question."""
        return {**self.secrets, **({"RDC_AGENT": self.callee, "RDC_AGENTS": ""} if self.callee else {})}

    @property
    def secrets(self) -> dict[str, str]:
        """The secrets that the document needs; where no command of it runs, any text will do."""
        found = {name: _STAND_IN if self.is_mock else os.environ.get(name, "") for name in self.program.secrets}
        return {name: value for name, value in found.items() if value}

    def write(self, name: str, text: str) -> Path:
        """Write a file for the trial."""
        path = self.scratch / name
        path.write_bytes(text.encode())
        return path

    def lay(self, name: str, emission: Emission, home: Path | None = None) -> Path:
        """Write what a target has made: the main file, and its companions as if that lay in the folder `home`.

        Raises:
            TrialError: There is no main file, or a companion would lie outside of the folders of the trial.
        """
        if emission.text is None:
            raise TrialError(_refusal(emission.diagnostics))
        for companion in emission.companions:
            self._lay_beside(home or self.scratch, companion)
        return self.write(name, emission.text)

    def _lay_beside(self, folder: Path, companion: Companion) -> None:
        path = Path(os.path.normpath(folder / companion.path))
        try:
            real = path.parent.resolve()
            if not any(real.is_relative_to(own.resolve()) for own in (self.scratch, self.workspace)):
                raise TrialError(f"`{companion.option}` puts {companion.path} outside of the folder of the trial")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # the project may have a link there
            path.write_bytes(companion.text.encode())
            path.chmod(0o755 if companion.executable else 0o644)
        except (OSError, RuntimeError) as error:  # a folder in its place, a circle of links
            raise TrialError(f"cannot write {companion.path}: {error}") from None

    def write_answers(self, part: int = 0) -> Path:
        """Write what is answered in a part of the run, as programs take it, a line for each.

        Each answer of a file is used once, and files are told apart by what is in them.
        """
        if self.replies:
            return self.write(ANSWERS, "".join(_lines(step, reply) for step, reply in self.replies))
        answers = (*(leg.answers for leg in self.legs), self.answers)[part]
        return self.write(ANSWERS, "\n" * part + "".join(f"{answer}\n" for answer in answers))


def _lines(step: str, reply: str) -> str:
    """A reply in a file of answers, as several lines, so that nothing in it has a meaning there."""
    word = "END"
    while word in reply.splitlines():
        word += "_"
    return f"{step}<<{word}\n{reply}\n{word}\n"


def _refusal(diagnostics: Sequence[Diagnostic]) -> str:
    return f"{diagnostics[0].message}; {diagnostics[0].help}" if diagnostics else "the target has made nothing"


class Step(Struct, frozen=True):
    """A step that a target has done, and its outcome; the attempt is None where the target does not tell."""

    step: str
    attempt: int | None
    word: str


class Moved(Struct, frozen=True):
    """A jump of the operator, to this step."""

    step: str


class Run(Struct, frozen=True):
    """What a target has done: the steps and the operator's jumps, in order, and how it ended.

    `result` is COMPLETE or STOP with the message, WAITING with the step, or "" with what went wrong.
    """

    steps: tuple[Step | Moved, ...]
    result: str
    message: str

    @classmethod
    def told(cls, steps: tuple[Step | Moved, ...], output: str, code: int, results: str = RESULTS) -> Run:
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
