"""The frontmatter of a playbook: options under `rdc`, and scenarios; all other keys belong to other tools (P2)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from compiler.diagnostic import Diagnostic
from compiler.frontends.frontmatter import Block, read_block
from compiler.frontends.playbook import FORMAT
from compiler.frontends.unit_settings import UNITS, UnitSettings, said_of_units
from compiler.options import Known, Level, Options, Place, places_within, read_options
from compiler.source import Source, Spans, beneath


class Frontmatter(NamedTuple):
    """The options, the line on which the document goes on, and the scenarios as they were written, with their places.

    `scenarios` is None where there are none; `units` is what is said of units.
    """

    options: Options
    next_line: int
    scenarios: object = None
    spans: Spans = MappingProxyType({})
    units: tuple[UnitSettings, ...] = ()


def read_frontmatter(source: Source) -> tuple[Frontmatter, list[Diagnostic]]:
    """The frontmatter at the first line of a source, empty if there is none, with what is wrong in it."""
    block, next_line, found = read_block(source)
    if block is None:
        return Frontmatter(Options(), next_line), found
    options, units, found = _options(block)
    front = Frontmatter(options, next_line, units=units)
    if "scenarios" not in block.values:
        return front, found
    return front._replace(scenarios=block.as_written()["scenarios"], spans=beneath(block.spans, "scenarios")), found


def _options(block: Block) -> tuple[Options, tuple[UnitSettings, ...], list[Diagnostic]]:
    """The options, and what is said of units (E3)."""
    if "rdc" not in block.values:
        return Options(), (), []
    plain, place = block.values["rdc"], Place("RD013", block.source.path, block.spans["rdc",])
    inner, known = beneath(block.spans, "rdc"), Known(FORMAT.options, Level.DOCUMENT)
    if not isinstance(plain, Mapping) or UNITS not in plain:
        options, found = read_options(plain, place, inner, known)
        return options, (), found
    options, found = read_options({key: value for key, value in plain.items() if key != UNITS}, place, inner, known)
    said = said_of_units(plain[UNITS], block.as_written()["rdc"][UNITS], places_within(place, inner)[UNITS])
    targets = {**options.targets, **({UNITS: said.for_targets} if said.for_targets else {})}
    return Options(options.values, targets), said.settings, [*found, *said.found]
