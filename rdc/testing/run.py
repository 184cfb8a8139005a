"""The setting of a test on a target, its run, and how the run is driven through jumps."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from backends.base import Companion, Emission
from compiler.ir.program import Program

ANSWERS = "answers"
_END = re.compile(r"(?:|.*)rdc: (?P<result>COMPLETE|STOP|WAITING)(?: (?P<message>.*))?$")


class TargetTestError(Exception):
    """A test could not run or finish. The argument is the reason and the help."""


class MissingToolError(Exception):
    """A program that a target needs is missing. The argument names it, and where to get it."""


_STUB = "rdc-has-none-here"
"""Replaces a secret that no command reads. It must not occur in documents, where it would be masked."""


class Setting(Struct, frozen=True):
    """One run of a target: the program, its options, and the answers in order, before each jump and after the last.

    `workspace` is the folder of the run, `scratch` a folder for other files. In a mock run the program executes nothing
    of the document. `timeout` is in seconds. `jumps` are the steps that the operator moves the run to. `inputs` are the
    inputs of the run. If `is_prompted`, the program executes nothing and asks for each outcome. `replies` are answers
    by step, for free text. `mocks` are the commands that replace agents ("") and the tools of each connection.
    With `needs_program`, the document has delays or notices, which `program` doesn't have.
    """

    program: Program
    options: Mapping[str, object]
    answers: tuple[tuple[str, ...], ...]
    workspace: Path
    scratch: Path
    timeout: float
    is_mock: bool
    jumps: tuple[str, ...] = ()
    is_prompted: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict)
    replies: tuple[tuple[str, str], ...] = ()
    mocks: Mapping[str, str] = field(default_factory=dict)
    needs_program: bool = False

    @property
    def tools(self) -> dict[str, str]:
        """The command of each connection."""
        return {connection: command for connection, command in self.mocks.items() if connection}

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables for the program: its secrets and its agent, which must answer no question."""
        return {**self.secrets, **({"RDC_AGENT": self.mocks[""], "RDC_AGENTS": ""} if "" in self.mocks else {})}

    @property
    def secrets(self) -> dict[str, str]:
        """The secrets of the document. In a mock run any text will do."""
        found = {name: _STUB if self.is_mock else os.environ.get(name, "") for name in self.program.secrets}
        return {name: value for name, value in found.items() if value}

    def write(self, name: str, text: str) -> Path:
        """Write a file for the test."""
        path = self.scratch / name
        path.write_bytes(text.encode())
        return path

    def lay(self, name: str, emission: Emission, home: Path | None = None) -> Path:
        """Write the output of a target: the main file, and companions as if the main file were in the folder `home`.

        Raises `TargetTestError` if there is no main file, or if a companion would be outside the folders of the test.
        """
        if emission.text is None:
            refusals = (f"{one.message}; {one.help}" for one in emission.diagnostics)
            raise TargetTestError(next(refusals, "the target wrote nothing"))
        for companion in emission.companions:
            self._lay_beside(home or self.scratch, companion)
        return self.write(name, emission.text)

    def _lay_beside(self, folder: Path, companion: Companion) -> None:
        path = Path(os.path.normpath(folder / companion.path))
        try:
            real = path.parent.resolve()
            if not any(real.is_relative_to(own.resolve()) for own in (self.scratch, self.workspace)):
                raise TargetTestError(f"`{companion.option}` puts {companion.path} outside the folder of the test")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # the project may have a link there
            path.write_bytes(companion.text.encode())
            path.chmod(0o755 if companion.executable else 0o644)
        except (OSError, RuntimeError) as error:  # such as a folder in its place, or circular links
            raise TargetTestError(f"cannot write {companion.path}: {error}") from None

    def write_answers(self, part: int = 0) -> Path:
        """Write the answers for a part of the run, one per line.

        Programs use each answer of a file once, and gates take none of a file that changed.
        """
        if self.replies:
            return self.write(ANSWERS, "".join(_reply(*reply) for reply in self.replies))
        lines = "".join(f"{answer}\n" for answer in self.answers[part])
        return self.write(f"{ANSWERS}{part or ''}", "\n" * part + lines)


def _reply(step: str, reply: str) -> str:
    word = "END"
    while word in reply.splitlines():
        word += "_"
    return f"{step}<<{word}\n{reply}\n{word}\n"


class Step(Struct, frozen=True):
    """A step that a target has done, and its outcome. The attempt is None if the target doesn't show it."""

    step: str
    attempt: int | None
    word: str


class Moved(Struct, frozen=True):
    """An operator's jump to this step."""

    step: str


class Run(Struct, frozen=True):
    """A run of a target: the steps and operator's jumps, in order, and the result.

    `result` is COMPLETE or STOP with the message, WAITING with the step, or "" with the error.
    """

    steps: tuple[Step | Moved, ...]
    result: str
    message: str

    @classmethod
    def told(cls, steps: tuple[Step | Moved, ...], output: str, code: int) -> Run:
        """Return a run whose result is near the end of an output, such as `rdc: STOP The disk is full`.

        The line may start with unfinished output of a command, and more output may follow.
        """
        lines = [line for line in output.splitlines() if line.strip()]
        for line in reversed(lines):
            if found := _END.match(line):
                return cls(steps, found["result"], found["message"] or "")
        printed = lines[-1] if lines else "it printed nothing"
        ended = f"exit code {code}" if code >= 0 else f"ended by signal {-code}"
        return cls(steps, "", f"{printed} ({ended})")


ENDS = ("COMPLETE", "STOP")


class Driver(Protocol):
    """Calls the program of one target in a test. Each call lasts until the run waits or ends."""

    def begin(self) -> None:
        """Start the run with the answers of its first part."""

    def move(self, step: str) -> str:
        """Move the run to a step; return the error, or ""."""

    def go_on(self, part: int) -> None:
        """Continue the run with the answers of this part, counted from 0."""

    def told(self) -> Run:
        """Return the run so far, and how the last call ended."""


def drive(driver: Driver, setting: Setting) -> Run:
    """Run a program through the jumps of a setting to its end. Remaining jumps are ignored."""
    driver.begin()
    for part, step in enumerate(setting.jumps, start=1):
        if driver.told().result in ENDS:
            break
        if problem := driver.move(step):
            return replace(driver.told(), result="", message=problem)
        driver.go_on(part)
    return driver.told()


def run_told(path: Path, setting: Setting, said: str, code: int) -> Run:
    """Return the run in a file of events. Without a final event, the last call's output gives the result."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    happened = [json.loads(line) for line in lines]
    done = [(event, event["event"] == "goto") for event in happened if event["event"] in ("step_finished", "goto")]
    steps = steps_told(done, setting)
    if happened and happened[-1]["event"] == "run_finished":
        return Run(steps, happened[-1]["result"].upper(), " ".join(happened[-1]["message"].split()))
    return Run.told(steps, said, code)


def steps_told(done: Iterable[tuple[dict[str, Any], bool]], setting: Setting) -> tuple[Step | Moved, ...]:
    """Return the steps and jumps in the entries of a run, each with whether it is a jump."""
    jumps = iter(setting.jumps)
    return tuple(
        Moved(next(jumps)) if is_jump else Step(one["step"], one["attempt"], str(one["outcome"]))
        for one, is_jump in done
    )
