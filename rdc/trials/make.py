"""Trials of the Make target."""

from __future__ import annotations

import os

from backends.make import MakeBackend
from compiler.ir.tasks import Verdict
from rdc.trials.process import execute, find_tool
from rdc.trials.run import RESULTS, Run, Setting, Step

OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES", "MAKEOVERRIDES")
"""What a make around this one would tell it."""

OUTCOMES = {"pass": Verdict.PASS, "yes": Verdict.PASS, "fail": Verdict.FAIL, "no": Verdict.FAIL}
"""The words of `make status`."""


def run(setting: Setting) -> Run:
    """Run the generated Makefile; its `status` says what it has done."""
    tool = find_tool("make", "gmake", advice="install GNU make, or test on another target")
    makefile = setting.lay("Makefile", MakeBackend().emit(setting.program, {}))
    environment = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
    command = [tool, "--no-print-directory", "-f", str(makefile)]
    given = [f"ANSWERS={setting.write_answers()}", *(f"{name}={value}" for name, value in setting.inputs.items())]
    done = execute([*command, *given], setting.workspace, environment, setting.timeout)
    status = execute([*command, "status"], setting.workspace, environment, setting.timeout)
    words = [line.partition(" ") for line in status.out.splitlines()]
    names = sorted((node.id for node in setting.program.nodes), key=len, reverse=True)
    steps = tuple(Step(_unit(said, names), None, OUTCOMES[word]) for word, _, said in words if word in OUTCOMES)
    over = next((rest for word, _, rest in words if word == "over:" and rest in RESULTS.split("|")), RESULTS)
    return Run.told(steps, done.out, done.code, over)


def _unit(said: str, names: list[str]) -> str:
    """The unit of a line, whose title, time and transition follow; longer names come first."""
    return next((name for name in names if said.startswith((f"{name} ", f"{name}, "))), said)
