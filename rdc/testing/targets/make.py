"""Tests of the Make target."""

import os
import sys
from collections.abc import Iterable

from backends.base import Emission
from backends.registry import load
from compiler.ir.tasks import PASS_OR_FAIL
from rdc.testing.process import Finished, execute, find_tool, last_line
from rdc.testing.run import Run, Setting, Step, drive, run_told

OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES", "MAKEOVERRIDES")
"""Variables that an outer make would pass on."""


def run(setting: Setting) -> Run:
    """Run the generated Makefile, and read the run from its events or its log."""
    needs_operator = setting.is_prompted or setting.jumps or setting.needs_program
    emission = load("make").emit(setting.program, {"operator": "full" if needs_operator else "basic"})
    return drive((_Calling if emission.companions else _Native)(setting, emission), setting)


class _Makefile:
    """A generated Makefile, and how the last call of make ended."""

    given: tuple[str, ...] = ()
    """The arguments of each call."""

    def __init__(self, setting: Setting, emission: Emission) -> None:
        self._setting = setting
        tool = find_tool("make", "gmake", advice="install GNU make, or test another target")
        self._command = [tool, "--no-print-directory", "-f", str(setting.lay("Makefile", emission))]
        own = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
        self._environment = {**own, **setting.environment}
        self._last = Finished(0, "", "")

    def _call(self, *words: str) -> Finished:
        command = [*self._command, *words, *self.given]
        return execute(command, self._setting.workspace, self._environment, self._setting.timeout)


class _Native(_Makefile):
    """A Makefile that runs by itself. The run is read from its log, and it has no jumps."""

    def begin(self) -> None:
        self._last = self._call("run")
        self._reply(self._setting.answers[0])

    def move(self, step: str) -> str:
        raise NotImplementedError(step)

    def go_on(self, part: int) -> None:
        self._reply(self._setting.answers[part])

    def _reply(self, answers: Iterable[str]) -> None:
        for answer in answers:
            if not last_line(self._last.out).startswith("rdc: WAITING "):
                return
            self._last = self._call(f"REPLY={answer}")

    def told(self) -> Run:
        ids = {name: step for step, name in load("make").shown_steps(self._setting.program).items()}
        lines = (line.partition(",")[0].split() for line in self._call("status").out.splitlines())
        words = (found for found in lines if len(found) == 2 and found[0] in ids and found[1] in PASS_OR_FAIL)
        steps = tuple(Step(ids[name], None, word) for name, word in words)
        return Run.told(steps, self._last.out, self._last.code)


class _Calling(_Makefile):
    """A Makefile that calls the program with rdc's own interpreter."""

    def __init__(self, setting: Setting, emission: Emission) -> None:
        super().__init__(setting, emission)
        self._events = setting.scratch / "events"
        self.given = (f"PYTHON={sys.executable}", f"EVENTS={self._events}")
        lines = "".join(f"{name}={command}\n" for name, command in setting.tools.items())
        self._tools = [f"TOOLS={setting.write('tools', lines)}"] if lines else []

    def begin(self) -> None:
        prompted = ["PROMPTED=1"] if self._setting.is_prompted else []
        given = [f"{name}={value}" for name, value in self._setting.inputs.items()]
        self._last = self._call("run", *prompted, *given, *self._tools, f"ANSWERS={self._setting.write_answers()}")

    def move(self, step: str) -> str:
        self._last = self._call("goto", f"STEP={step}")
        return last_line(self._last.out) if self._last.code else ""

    def go_on(self, part: int) -> None:
        self._last = self._call("resume", *self._tools, f"ANSWERS={self._setting.write_answers(part)}")

    def told(self) -> Run:
        return run_told(self._events, self._setting, self._last.out, self._last.code)
