"""What stands in the way of renumbering: references that nobody can carry over (RD117)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.declarations import UnitSettings
from compiler.frontends.rundown.formatting.metadata import find_label, find_unit, jumps
from compiler.frontends.rundown.formatting.numbering import Numbering, UnclearError
from compiler.frontends.rundown.syntax import Goto, Runbook, units
from compiler.source import Source, Span


def unclear_references(source: Source, runbook: Runbook, numbering: Numbering) -> Iterator[Diagnostic]:
    """A diagnostic for each reference to a number that more than one unit has, or that only renumbering would give."""
    for unit in units(runbook):
        for transition in unit.transitions:
            if isinstance(transition.action, Goto):
                target = transition.action.target
                try:
                    numbering.target(target)
                except UnclearError as error:
                    yield _unclear(source, target.span, f"GOTO {target}", error)
    for jump in jumps(runbook):
        try:
            changes = numbering.label(jump.unit) != jump.unit
        except UnclearError as error:
            yield _unclear(source, jump.span, f"rd goto {jump.unit}", error)
            continue
        if changes and not (jump.span and find_label(source.lines[jump.span.line - 1], jump)):
            problem = f"`rd goto {jump.unit}` is written in a way that rdc cannot renumber"
            remedy = f"write it as a plain text in one line: `- rd goto {jump.unit}`"
            yield Diagnostic("RD117", source.path, jump.span, problem, remedy)
    for said in runbook.declared.units:
        yield from _unclear_unit(source, said, numbering)


def _unclear_unit(source: Source, said: UnitSettings, numbering: Numbering) -> Iterator[Diagnostic]:
    """What stands in the way of renumbering a key under `units`."""
    span = said.place().span
    try:
        changes = numbering.path(said.unit) != said.unit
    except UnclearError as error:
        yield _unclear(source, span, f"units: {said.unit}", error)
        return
    if changes and not (span and find_unit(source.lines[span.line - 1], said)):
        problem = f"`{said.unit}` under `units` is written in a way that rdc cannot renumber"
        yield Diagnostic("RD117", source.path, span, problem, f'write it as a plain key: `"{said.unit}":`')


def _unclear(source: Source, span: Span | None, reference: str, error: UnclearError) -> Diagnostic:
    if error.meant:
        problem = f"`{reference}` cannot be renumbered: more than one unit is numbered {error.label}"
        remedy = "give the unit that is meant a number of its own, here and in its header"
    else:
        problem = f"`{reference}` names no unit, but would name one after renumbering"
        remedy = "correct the reference, or remove it"
    return Diagnostic("RD117", source.path, span, problem, remedy)
