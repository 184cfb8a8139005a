"""Trials of the Make target."""

from __future__ import annotations

import os

from backends.make import MakeBackend
from compiler.ir.program import Program
from compiler.ir.tasks import Ask, Verdict, alphabet
from rdc.trials.driving import drive
from rdc.trials.process import Finished, execute, find_tool
from rdc.trials.run import RESULTS, Moved, Run, Setting, Step

OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES", "MAKEOVERRIDES")
"""What a make around this one would tell it."""


def run(setting: Setting) -> Run:
    """Run the generated Makefile; its `status` says what it has done."""
    return drive(_Makefile(setting), setting)


class _Makefile:
    """The generated Makefile, and how the last call of make ended."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        tool = find_tool("make", "gmake", advice="install GNU make, or test on another target")
        makefile = setting.lay("Makefile", MakeBackend().emit(setting.program, {}))
        self._command = [tool, "--no-print-directory", "-f", str(makefile)]
        own = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
        self._environment = {**own, **setting.environment}
        lines = "".join(f"{name}={command}\n" for name, command in setting.tools.items())
        self._tools = [f"TOOLS={setting.write('tools', lines)}"] if lines else []
        self._moves: list[tuple[int, Moved]] = []
        self._last = Finished(0, "", "")

    def begin(self) -> None:
        """Begin the run."""
        prompted = ["PROMPTED=1"] if self._setting.is_prompted else []
        given = [f"{name}={value}" for name, value in self._setting.inputs.items()]
        self._last = self._call("run", *prompted, *given, *self._tools, f"ANSWERS={self._setting.write_answers()}")

    def move(self, step: str) -> str:
        """Take the run to a step."""
        self._moves.append((len(self._steps(self._call("status"))), Moved(step)))
        moved = self._call("goto", f"STEP={step}")
        return (moved.out.splitlines() or ["make said nothing"])[-1] if moved.code else ""

    def go_on(self, part: int) -> None:
        """Go on with the run."""
        self._last = self._call("resume", *self._tools, f"ANSWERS={self._setting.write_answers(part)}")

    def told(self) -> Run:
        """What `status` says of the run."""
        status = self._call("status")
        steps: list[Step | Moved] = [*self._steps(status)]
        for place, moved in reversed(self._moves):
            steps.insert(place, moved)
        words = (line.partition(" ") for line in status.out.splitlines())
        over = next((rest for word, _, rest in words if word == "over:" and rest in RESULTS.split("|")), RESULTS)
        return Run.told(tuple(steps), self._last.out, self._last.code, over)

    def _steps(self, status: Finished) -> list[Step]:
        if status.out.strip() == "no run":
            return []  # it is refused before it begins, and `no` is no outcome here
        beginnings = _beginnings(self._setting.program).items()
        begun = dict(sorted(beginnings, key=lambda item: len(item[0]), reverse=True))
        return [step for line in status.out.splitlines() if (step := _step(line, begun))]

    def _call(self, *words: str) -> Finished:
        return execute([*self._command, *words], self._setting.workspace, self._environment, self._setting.timeout)


def _beginnings(program: Program) -> dict[str, Step]:
    """How the lines of `make status` begin for each outcome of each step."""
    found: dict[str, Step] = {}
    for node in program.nodes:
        words = {word: word for word in alphabet(node.task)}
        if isinstance(node.task, Ask) and node.task.question == "yes_no":
            words = {"yes": Verdict.PASS.value, "no": Verdict.FAIL.value}
        found |= {f"{said} {node.id}": Step(node.id, None, word) for said, word in words.items()}
    return found


def _step(line: str, begun: dict[str, Step]) -> Step | None:
    """The step of a line; the title, the time and the transition follow. Longer beginnings come first."""
    found = (step for beginning, step in begun.items() if line.startswith((f"{beginning} ", f"{beginning}, ")))
    return next(found, None)
