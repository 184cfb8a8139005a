"""Check a runbook's scenarios against its steps, and report commands that rdc cannot execute (S1)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.link import references
from compiler.frontends.rundown.names import StepRef, step_ref
from compiler.frontends.rundown.syntax import Runbook
from compiler.scenarios import Event, Goto, Reply, Unclear
from compiler.source import Source


def check_scenarios(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about each scenario command that `rdc test` cannot execute."""
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
        start = "start with `rd run [--prompted] FILE` and continue with `rd pass`, `rd fail` or `rd goto ID`"
        return command.remedy or start
    if isinstance(command, Goto):
        return "use the number or name of a step in this document"
    return "declare it under `outputs`, or use the name of a declared output"


def _problem(command: Event, places: Collection[str], values: Collection[str] | None) -> str:
    """Return the problem with a command, or ""; `values` are the known outputs, None with nested runbooks."""
    if isinstance(command, Unclear):
        return command.problem
    if isinstance(command, Goto):
        return "" if command.step in places else f"there is no step `{command.step}`"
    given = command.values if isinstance(command, Reply) else ()
    unknown = [name for name, _ in given if values is not None and name not in values]
    return f"there is no output `{unknown[0]}`" if unknown else ""


def _refs(runbook: Runbook) -> Iterator[StepRef]:
    return (step_ref(step, substep) for step in runbook.steps for substep in (None, *step.substeps))
