"""What stands in the way of renumbering: references that nobody can carry over (RD117)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.declarations import StepSettings
from compiler.frontends.rundown.formatting.metadata import find_label, find_step, jumps
from compiler.frontends.rundown.formatting.numbering import Numbering, UnclearError
from compiler.frontends.rundown.syntax import Goto, Runbook, all_steps
from compiler.source import Source, Span


def unclear_references(source: Source, runbook: Runbook, numbering: Numbering) -> Iterator[Diagnostic]:
    """A diagnostic for each reference to a number that more than one step has, or that only renumbering would give."""
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
            problem = f"`rd goto {jump.step}` is written in a way that rdc cannot renumber"
            remedy = f"write it as a plain string on one line: `- rd goto {jump.step}`"
            yield Diagnostic("RD117", source.path, jump.span, problem, remedy)
    for said in runbook.declared.steps:
        yield from _unclear_step(source, said, numbering)


def _unclear_step(source: Source, said: StepSettings, numbering: Numbering) -> Iterator[Diagnostic]:
    """What stands in the way of renumbering a key under `steps`."""
    span = said.place().span
    try:
        changes = numbering.path(said.step) != said.step
    except UnclearError as error:
        yield _unclear(source, span, f"steps: {said.step}", error)
        return
    if changes and not (span and find_step(source.lines[span.line - 1], said)):
        problem = f"`{said.step}` under `steps` is written in a way that rdc cannot renumber"
        yield Diagnostic("RD117", source.path, span, problem, f'write it as a plain key: `"{said.step}":`')


def _unclear(source: Source, span: Span | None, reference: str, error: UnclearError) -> Diagnostic:
    if error.meant:
        problem = f"`{reference}` cannot be renumbered: more than one step is numbered {error.label}"
        remedy = "give the step that is meant a number of its own, here and in its header"
    else:
        problem = f"`{reference}` names no step, but would name one after renumbering"
        remedy = "correct the reference, or remove it"
    return Diagnostic("RD117", source.path, span, problem, remedy)
