"""Report references that cannot be renumbered (RD117)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.declarations import StepSettings
from compiler.frontends.rundown.formatting.metadata import find_label, find_step, jumps
from compiler.frontends.rundown.formatting.numbering import Numbering, UnclearError
from compiler.frontends.rundown.syntax import Goto, Runbook, all_steps
from compiler.source import Source, Span


def unclear_references(source: Source, runbook: Runbook, numbering: Numbering) -> Iterator[Diagnostic]:
    """Report references to a number that several steps have, or that no step has before renumbering."""
    for step in all_steps(runbook):
        for transition in step.transitions:
            if isinstance(transition.action, Goto):
                target = transition.action.target
                try:
                    numbering.target(target)
                except UnclearError as error:
                    yield _unclear(source, target.span, f"GOTO {target}", error)
    for jump in jumps(runbook):
        try:
            changes = numbering.label(jump.step) != jump.step
        except UnclearError as error:
            yield _unclear(source, jump.span, f"rd goto {jump.step}", error)
            continue
        if changes and not (jump.span and find_label(source.lines[jump.span.line - 1], jump)):
            problem = f"rdc cannot renumber `rd goto {jump.step}` in this form"
            remedy = f"write it as a plain string on one line: `- rd goto {jump.step}`"
            yield Diagnostic("RD117", source.path, jump.span, problem, remedy)
    for said in runbook.declared.steps:
        yield from _unclear_step(source, said, numbering)


def _unclear_step(source: Source, said: StepSettings, numbering: Numbering) -> Iterator[Diagnostic]:
    """Report a key under `steps` that cannot be renumbered."""
    span = said.place().span
    try:
        changes = numbering.path(said.step) != said.step
    except UnclearError as error:
        yield _unclear(source, span, f"steps: {said.step}", error)
        return
    if changes and not (span and find_step(source.lines[span.line - 1], said)):
        problem = f"rdc cannot renumber `{said.step}` under `steps` in this form"
        yield Diagnostic("RD117", source.path, span, problem, f'write it as a plain key: `"{said.step}":`')


def _unclear(source: Source, span: Span | None, reference: str, error: UnclearError) -> Diagnostic:
    if error.meant:
        problem = f"rdc cannot renumber `{reference}`: several steps have the number {error.label}"
        remedy = "give the step you mean a unique number, here and in its header"
    else:
        problem = f"there is no step for `{reference}`, but there would be one after renumbering"
        remedy = "fix or remove the reference"
    return Diagnostic("RD117", source.path, span, problem, remedy)
