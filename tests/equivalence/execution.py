"""Generated runbooks as real ones: commands that log their visit and end as a script of outcomes says.

`prepare` writes the documents with such commands, the script, and a file of answers for the prompts. A
program compiled from them is run with `trial.environment`; then `trial.logged()` must equal
`trial.expected()`. Only commands are logged: what is asked between them shows by the answers it uses up.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .cases import MAIN, Case
from .model import Leaf
from .render import render, render_files
from .visits import Walk

FOLDER_VARIABLE = "YARDSTICK"

# Each line of the log is one command that has run, so their number says which outcome is next. A program that
# runs more commands than the walk has finds no outcome: the log then differs from what is expected.
UNIT_SCRIPT = """\
log="$YARDSTICK/log"
number=$(($(wc -l <"$log") + 1))
printf '%s\\t%s\\t%s\\t%s\\t%s\\n' "$1" "$2" "${RDC_ATTEMPT:--}" \\
    "${RDC_STEP_INSTANCE:--}" "${RDC_SUBSTEP_INSTANCE:--}" >>"$log"
outcome=$(sed -n "${number}p" "$YARDSTICK/script")
[ "$outcome" = pass ]
"""


class Line(NamedTuple):
    """One command that ran: file ("" for the outermost), unit in it, and what the environment said (M4)."""

    file: str
    unit: str
    attempt: int | None
    step_instance: int | None
    substep_instance: int | None


def command(path: str, label: str, leaf: Leaf) -> str:
    """The code of a unit: what the model has, made harmless as one quoted argument, then the helper.

    `@` stands for the braces of `{N}`: as a placeholder it would be replaced by the instance (M5).
    """
    unit = label.replace("{N}", "@N").replace("{n}", "@n")
    call = ["sh", f'"${FOLDER_VARIABLE}/unit.sh"', shlex.quote(path or "-"), shlex.quote(unit)]
    return f": {shlex.quote(leaf.code or '')}\n{' '.join(call)}"


@dataclass(frozen=True)
class Trial:
    """A folder with a case in it, ready to run."""

    folder: Path
    walk: Walk

    @property
    def main(self) -> Path:
        """The document to compile."""
        return self.folder / MAIN

    @property
    def answers(self) -> Path:
        """The answers to the prompts, a line each, in the order in which they are asked."""
        return self.folder / "answers"

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment to run the program in: without what another run may have left."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("RDC_", "MAKE", "MFLAGS"))}
        return clean | {FOLDER_VARIABLE: str(self.folder)}

    @property
    def exit_code(self) -> int:
        """What the program must end with (M8)."""
        return 0 if self.walk.end is not None and self.walk.end[0] == "COMPLETE" else 1

    @property
    def last_line(self) -> str:
        """What the program must say at the end."""
        return "" if self.walk.end is None else f"rdc: {' '.join(filter(None, self.walk.end))}"

    def reset(self) -> None:
        """Forget what has run."""
        (self.folder / "log").write_text("", encoding="utf-8")

    def logged(self) -> list[Line]:
        """The commands that ran."""
        text = (self.folder / "log").read_text(encoding="utf-8")
        return [_parse(line) for line in text.splitlines()]

    def expected(self) -> list[Line]:
        """The commands that had to run."""
        return [
            Line(visit.file, visit.unit, visit.attempt, visit.step_instance, visit.substep_instance)
            for visit, _ in self.walk.visits
            if visit.is_command
        ]


def _parse(line: str) -> Line:
    file, unit, *numbers = line.split("\t")
    attempt, step, substep = (None if number == "-" else int(number) for number in numbers)
    label = unit.replace("@N", "{N}").replace("@n", "{n}")
    return Line("" if file == "-" else file, label, attempt, step, substep)


def prepare(folder: Path, case: Case) -> Trial:
    """Write a case into a folder. Its walk must have an end: a program cannot be told to stop at a limit."""
    taken = case.walk()
    if taken.end is None:
        raise ValueError("the walk of this case does not end")
    documents = {MAIN: render(case.runbook, case.style, code_of=command)}
    documents |= render_files(case.files, case.style, code_of=command)
    for path, text in documents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    words = [(visit, "pass" if passed else "fail") for visit, passed in taken.visits]
    script = [word for visit, word in words if visit.is_command]
    answers = [word for visit, word in words if not visit.is_command]
    (folder / "script").write_text("".join(f"{word}\n" for word in script), encoding="utf-8")
    (folder / "answers").write_text("".join(f"{word}\n" for word in answers), encoding="utf-8")
    (folder / "unit.sh").write_text(UNIT_SCRIPT, encoding="utf-8")
    trial = Trial(folder, taken)
    trial.reset()
    return trial
