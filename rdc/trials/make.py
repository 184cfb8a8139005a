"""Trials of the Make target."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from backends.make import MakeBackend
from compiler.ir.tasks import Verdict
from rdc.trials.process import Finished, execute, find_tool
from rdc.trials.run import RESULTS, Run, Setting, Step, TrialError

OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES", "MAKEOVERRIDES")
"""What a make around this one would tell it."""

OUTCOMES = {"pass": Verdict.PASS, "yes": Verdict.PASS, "fail": Verdict.FAIL, "no": Verdict.FAIL}
"""The words of `make status`."""


class Leg(NamedTuple):
    """A part of a run that an operator moves: where it is taken ("" at the beginning), and what is answered."""

    unit: str
    answers: tuple[str, ...]


def run(setting: Setting) -> Run:
    """Run the generated Makefile; its `status` says what it has done."""
    make = _Make(setting)
    return make.told(make("run", f"ANSWERS={setting.write_answers()}"))


def run_moved(setting: Setting, legs: Sequence[Leg], *, prompted: bool) -> Run:
    """The same, in parts: where one waits or has stopped, `make goto` takes the run on; prompted, nothing is executed.

    Raises:
        TrialError: The run could not be taken to a unit.
    """
    make = _Make(setting)
    done = Finished(0, "", "")
    for number, leg in enumerate(legs):
        # Answers are used once for each file, and files are told apart by what is in them.
        written = setting.write(f"answers-{number}", "\n" * number + "".join(f"{one}\n" for one in leg.answers))
        if leg.unit:
            moved = make("goto", f"UNIT={leg.unit}")
            if moved.code:
                raise TrialError(f"`make goto UNIT={leg.unit}` failed: {(moved.out.splitlines() or [''])[-1]}")
        begin = ["run", "PROMPTED=1"] if prompted else ["run"]
        done = make(*(begin if number == 0 else ["resume"]), f"ANSWERS={written}")
    return make.told(done)


class _Make:
    """The Makefile of a trial, and make called on it."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        tool = find_tool("make", "gmake", advice="install GNU make, or test on another target")
        makefile = setting.lay("Makefile", MakeBackend().emit(setting.program, {}))
        self._command = [tool, "--no-print-directory", "-f", str(makefile)]
        self._environment = {name: value for name, value in os.environ.items() if name not in OF_MAKE}

    def __call__(self, *words: str) -> Finished:
        return execute([*self._command, *words], self._setting.workspace, self._environment, self._setting.timeout)

    def told(self, done: Finished) -> Run:
        """What `status` says of a run, after the last part of it."""
        return _told(self._setting, done, self("status"))


def _told(setting: Setting, done: Finished, status: Finished) -> Run:
    words = [line.partition(" ") for line in status.out.splitlines()]
    names = sorted((node.id for node in setting.program.nodes), key=len, reverse=True)
    steps = tuple(Step(_unit(said, names), None, OUTCOMES[word]) for word, _, said in words if word in OUTCOMES)
    over = next((rest for word, _, rest in words if word == "over:" and rest in RESULTS.split("|")), RESULTS)
    return Run.told(steps, done.out, done.code, over)


def _unit(said: str, names: list[str]) -> str:
    """The unit of a line, whose title, time and transition follow; longer names come first."""
    return next((name for name in names if said.startswith((f"{name} ", f"{name}, "))), said)
