"""Tests of the Python target."""

import os
import sys

from backends.registry import load
from rdc.testing.process import Finished, execute, last_line
from rdc.testing.run import Run, Setting, drive, run_told

_RUNNING = ("run", "resume")


def run(setting: Setting) -> Run:
    """Run the generated Python file, and read the run from its events."""
    return drive(_Program(setting), setting)


class _Program:
    """The generated Python file, and the output of the last call."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._script = setting.lay("program.py", load("python").emit(setting.program, {"operator": "full"}))
        self._events = setting.scratch / "events"
        self._last = Finished(0, "", "")

    def begin(self) -> None:
        prompted = ["--prompted"] if self._setting.is_prompted else []
        given = [f"--input={name}={value}" for name, value in self._setting.inputs.items()]
        self._call("run", *prompted, *given, "--answers", str(self._setting.write_answers()))

    def move(self, step: str) -> str:
        self._call("goto", step)
        return last_line(self._last.err) if self._last.code else ""

    def go_on(self, part: int) -> None:
        self._call("resume", "--answers", str(self._setting.write_answers(part)))

    def told(self) -> Run:
        return run_told(self._events, self._setting, self._last.err, self._last.code)

    def _call(self, *words: str) -> None:
        setting, places = self._setting, ["--state-dir", str(self._setting.scratch / "state")]
        tools = [f"--tool={name}={command}" for name, command in setting.tools.items() if words[0] in _RUNNING]
        command = [sys.executable, str(self._script), *words, *tools, *places, "--events", str(self._events)]
        self._last = execute(command, setting.workspace, {**os.environ, **setting.environment}, setting.timeout)
