"""Report names under `steps` that no step has (E3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.declarations import EVERY, StepSettings
from compiler.frontends.rundown.names import step_ref
from compiler.frontends.rundown.syntax import UNKNOWN, Runbook, all_steps
from compiler.source import Source
from compiler.suggestions import did_you_mean


def unknown_steps(_: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report unknown step names in this document; names in nested runbooks are checked after linking."""
    if not runbook.declared.steps or any(step.id == UNKNOWN for step in all_steps(runbook)):
        return  # the unreadable header could be this step
    known = [step_ref(step, substep).label for step in runbook.steps for substep in (None, *step.substeps)]
    names = {EVERY, *known}
    for settings in runbook.declared.steps:
        if "/" not in settings.step and settings.step not in names:
            yield unknown_step(settings, known)


def unknown_step(settings: StepSettings, known: Iterable[str]) -> Diagnostic:
    """Return the diagnostic for an unknown step, with the nearest known name as a hint."""
    hint = did_you_mean(settings.step, known)
    problem = f"there is no step `{settings.step}`{hint}"
    return settings.place().finding(problem, f"use a step's number or name, or `{EVERY}` for all steps")
