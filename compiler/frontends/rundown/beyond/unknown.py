"""Names under `units` that no unit has (E3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.declarations import EVERY, UnitSettings
from compiler.frontends.rundown.names import Unit
from compiler.frontends.rundown.syntax import UNKNOWN, Runbook, units
from compiler.source import Source


def unknown_units(_: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Names that would be those of units of this document; what is in nested runbooks is known when it is linked."""
    if any(unit.id == UNKNOWN for unit in units(runbook)):
        return  # a header that could not be read may have been the one
    known = [Unit(step, substep).label for step in runbook.steps for substep in (None, *step.substeps)]
    for settings in runbook.declared.units:
        if "/" not in settings.unit and settings.unit not in (EVERY, *known):
            yield unknown_unit(settings, known)


def unknown_unit(settings: UnitSettings, known: Iterable[str]) -> Diagnostic:
    """The finding for a name, with one of those that there are if it is near."""
    close = get_close_matches(settings.unit, list(known), 1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    problem = f"`units` names {settings.unit}, and the document has no such unit{hint}"
    return settings.place().finding(problem, f"write the number or name of a unit or step, or `{EVERY}` for all")
