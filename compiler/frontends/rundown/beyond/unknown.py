"""Names under `units` that no unit has (E3)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.names import Unit
from compiler.frontends.rundown.syntax import UNKNOWN, Runbook, units
from compiler.frontends.unit_settings import EVERY, unknown_unit
from compiler.source import Source


def unknown_units(_: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Names that would be those of units of this document; what is in nested runbooks is known when it is linked."""
    if any(unit.id == UNKNOWN for unit in units(runbook)):
        return  # a header that could not be read may have been the one
    known = [Unit(step, substep).label for step in runbook.steps for substep in (None, *step.substeps)]
    for settings in runbook.declared.units:
        if "/" not in settings.unit and settings.unit not in (EVERY, *known):
            yield unknown_unit(settings, known)
