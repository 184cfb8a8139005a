"""Names under `steps` that no step has (E3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.declarations import EVERY, StepSettings
from compiler.frontends.rundown.names import step_ref
from compiler.frontends.rundown.syntax import UNKNOWN, Runbook, all_steps
from compiler.source import Source
from compiler.suggestions import did_you_mean


def unknown_steps(_: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Names that would be those of steps of this document; what is in nested runbooks is known when it is linked."""
    if not runbook.declared.steps or any(step.id == UNKNOWN for step in all_steps(runbook)):
        return  # a header that could not be read may have been the one
    known = [step_ref(step, substep).label for step in runbook.steps for substep in (None, *step.substeps)]
    names = {EVERY, *known}
    for settings in runbook.declared.steps:
        if "/" not in settings.step and settings.step not in names:
            yield unknown_step(settings, known)


def unknown_step(settings: StepSettings, known: Iterable[str]) -> Diagnostic:
    """The finding for a name, with one of those that there are if it is near."""
    hint = did_you_mean(settings.step, known)
    problem = f"`steps` names {settings.step}, and the document has no such step{hint}"
    return settings.place().finding(problem, f"write the number or name of a step, or `{EVERY}` for all")
