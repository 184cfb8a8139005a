"""Trials of the Make target."""

from __future__ import annotations

import os
import sys

from backends.base import Emission
from backends.make import MakeBackend
from compiler.ir.program import Program
from compiler.ir.tasks import Ask, Verdict, alphabet
from rdc.trials.driver import drive, run_told
from rdc.trials.process import Finished, execute, find_tool, last_line
from rdc.trials.run import RESULTS, Run, Setting, Step

OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES", "MAKEOVERRIDES")
"""Variables that an outer make would pass on."""


def run(setting: Setting) -> Run:
    """Run the generated Makefile, and read the run from its events or its `status`."""
    needs_operator = setting.is_prompted or setting.jumps
    emission = MakeBackend().emit(setting.program, {"operator": "full" if needs_operator else "basic"})
    return drive((_Calling if emission.companions else _Native)(setting, emission), setting)


class _Makefile:
    """A generated Makefile, and how the last call of make ended."""

    given: tuple[str, ...] = ()
    """The arguments of each call."""

    def __init__(self, setting: Setting, emission: Emission) -> None:
        self._setting = setting
        tool = find_tool("make", "gmake", advice="install GNU make, or test another target")
        makefile = setting.lay("Makefile", emission)
        self._command = [tool, "--no-print-directory", "-f", str(makefile)]
        own = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
        self._environment = {**own, **setting.environment}
        self._last = Finished(0, "", "")

    def _call(self, *words: str) -> Finished:
        command = [*self._command, *words, *self.given]
        return execute(command, self._setting.workspace, self._environment, self._setting.timeout)


class _Native(_Makefile):
    """A Makefile that runs by itself. The run is read from its status, and it has no jumps."""

    def begin(self) -> None:
        """Start the run."""
        self._last = self._call("run", f"ANSWERS={self._setting.write_answers()}")

    def move(self, step: str) -> str:
        """Reject a jump."""
        raise NotImplementedError(step)

    def go_on(self, part: int) -> None:
        """Continue the run."""
        self._last = self._call("resume", f"ANSWERS={self._setting.write_answers(part)}")

    def told(self) -> Run:
        """Return the run from `status`."""
        status = self._call("status")
        words = (line.partition(" ") for line in status.out.splitlines())
        over = next((rest for word, _, rest in words if word == "over:" and rest in RESULTS.split("|")), RESULTS)
        return Run.told(tuple(self._steps(status)), self._last.out, self._last.code, over)

    def _steps(self, status: Finished) -> list[Step]:
        if status.out.strip() == "no run":
            return []  # it was refused, and `no` isn't an outcome here
        beginnings = _beginnings(self._setting.program).items()
        begun = dict(sorted(beginnings, key=lambda item: len(item[0]), reverse=True))
        return [step for line in status.out.splitlines() if (step := _step(line, begun))]


class _Calling(_Makefile):
    """A Makefile that calls the program with rdc's own interpreter."""

    def __init__(self, setting: Setting, emission: Emission) -> None:
        super().__init__(setting, emission)
        self._events = setting.scratch / "events"
        self.given = (f"PYTHON={sys.executable}", f"EVENTS={self._events}")
        lines = "".join(f"{name}={command}\n" for name, command in setting.tools.items())
        self._tools = [f"TOOLS={setting.write('tools', lines)}"] if lines else []

    def begin(self) -> None:
        """Start the run."""
        prompted = ["PROMPTED=1"] if self._setting.is_prompted else []
        given = [f"{name}={value}" for name, value in self._setting.inputs.items()]
        self._last = self._call("run", *prompted, *given, *self._tools, f"ANSWERS={self._setting.write_answers()}")

    def move(self, step: str) -> str:
        """Move the run to a step."""
        self._last = self._call("goto", f"STEP={step}")
        return last_line(self._last.out) if self._last.code else ""

    def go_on(self, part: int) -> None:
        """Continue the run."""
        self._last = self._call("resume", *self._tools, f"ANSWERS={self._setting.write_answers(part)}")

    def told(self) -> Run:
        """Return the run from its events."""
        return run_told(self._events, self._setting, self._last.out, self._last.code)


def _beginnings(program: Program) -> dict[str, Step]:
    """Return the start of a `make status` line for each outcome of each step."""
    found: dict[str, Step] = {}
    for node in program.nodes:
        words = {word: word for word in alphabet(node.task)}
        if isinstance(node.task, Ask) and node.task.question == "yes_no":
            words = {"yes": Verdict.PASS.value, "no": Verdict.FAIL.value}
        found |= {f"{said} {node.id}": Step(node.id, None, word) for said, word in words.items()}
    return found


def _step(line: str, begun: dict[str, Step]) -> Step | None:
    """Return the step of a line, which starts with one of `begun`. Longer keys must come first."""
    found = (step for beginning, step in begun.items() if line.startswith((f"{beginning} ", f"{beginning}, ")))
    return next(found, None)
