"""The scenarios of a runbook against its units: commands that rdc cannot carry out, and where `rd goto` leads (S1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.jumps import jump
from compiler.frontends.rundown.link import Document
from compiler.frontends.rundown.names import Frame, Unit
from compiler.frontends.rundown.syntax import Runbook, Target, spell
from compiler.ir.semantics import Jump
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


def operator_jumps(document: Document) -> dict[str, Jump]:
    """What each `rd goto ID` in the scenarios of a document does, by its ID; those without a unit are absent."""
    wanted = {jump.unit for scenario in document.runbook.scenarios for jump in scenario.jumps}
    if not wanted:
        return {}
    frame, units = Frame(document), _units(document.runbook)
    return {name: _jump(frame, units[name]) for name in sorted(wanted) if name in units}


def _units(runbook: Runbook) -> dict[str, Unit]:
    every = (Unit(step, substep) for step in runbook.steps for substep in (None, *step.substeps))
    return {unit.label: unit for unit in every}


def _jump(frame: Frame, unit: Unit) -> Jump:
    """The operator jumps as a GOTO would from where the run stands (M10)."""
    target = Target(False, unit.step.id, unit.substep.id if unit.substep else None, unit.syntax.span)
    outside, inside = (jump(frame, unit.step, target, inside=inside) for inside in (False, True))
    return Jump(outside.target, outside.effects, inside.effects, spell(unit.step.id))
