"""The scenarios of a runbook against its units: commands that rdc cannot carry out (S1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.names import Unit
from compiler.frontends.rundown.syntax import Runbook
from compiler.scenarios import Goto, Unclear
from compiler.source import Source


def check_scenarios(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """A warning for each command of a scenario that `rdc test` cannot carry out."""
    units: Mapping[str, Unit] | None = None
    for scenario in runbook.scenarios:
        for command in scenario.replies:
            if isinstance(command, Goto):
                units = units or _units(runbook)
                problem = "" if command.unit in units else f"`{command.spelled} {command.unit}`: there is no such unit"
            else:
                problem = command.problem if isinstance(command, Unclear) else ""
            if problem and isinstance(command, Goto | Unclear):
                text = f"scenario `{scenario.name}` cannot be tested: {problem}"
                remedy = "begin with `rd run [--prompted] FILE`; go on with `rd pass`, `rd fail` or `rd goto ID`"
                yield Diagnostic("RD014", source.path, command.span, text, remedy)


def _units(runbook: Runbook) -> dict[str, Unit]:
    every = (Unit(step, substep) for step in runbook.steps for substep in (None, *step.substeps))
    return {unit.label: unit for unit in every}
