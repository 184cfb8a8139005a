"""The scenarios of a runbook against its steps: commands that rdc cannot carry out (S1)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.link import references
from compiler.frontends.rundown.names import StepRef, step_ref
from compiler.frontends.rundown.syntax import Runbook
from compiler.scenarios import Event, Goto, Reply, Unclear
from compiler.source import Source


def check_scenarios(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """A warning for each command of a scenario that `rdc test` cannot carry out."""
    places = {ref.label for ref in _refs(runbook)} if any(item.jumps for item in runbook.scenarios) else set()
    values = None if any(True for _ in references(runbook)) else runbook.declared.outputs
    for scenario in runbook.scenarios:
        for command in scenario.replies:
            if problem := _problem(command, places, values):
                text = f"scenario `{scenario.name}` cannot be tested: {problem}"
                remedy = _remedy(command)
                yield Diagnostic("RD014", source.path, command.span, text, remedy)


def _remedy(command: Event) -> str:
    if isinstance(command, Unclear):
        return (
            command.remedy or "begin with `rd run [--prompted] FILE`; go on with `rd pass`, `rd fail` or `rd goto ID`"
        )
    if isinstance(command, Goto):
        return "write the number or name of a step of this document"
    return "declare it there, or write the name of an output that is declared"


def _problem(command: Event, places: Collection[str], values: Collection[str] | None) -> str:
    """What is wrong with a command; `values` are the outputs that exist, None if nested runbooks may have others."""
    if isinstance(command, Unclear):
        return command.problem
    if isinstance(command, Goto):
        return "" if command.step in places else f"`{command.spelled} {command.step}`: there is no such step"
    given = command.values if isinstance(command, Reply) else ()
    unknown = [name for name, _ in given if values is not None and name not in values]
    return f"there is no output `{unknown[0]}` under `outputs`" if unknown else ""


def _refs(runbook: Runbook) -> Iterator[StepRef]:
    return (step_ref(step, substep) for step in runbook.steps for substep in (None, *step.substeps))
