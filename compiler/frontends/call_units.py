"""The option `units`, which formats with calls share: how long a call may take (I21), and what targets know of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from compiler.frontends.name_lists import unknown_key
from compiler.options import Level, Mistakes, Option, Options, Place, Places, Table, Wrong
from compiler.source import nearest
from compiler.times import duration_remedy, read_duration

TIMEOUT = "timeout"
KEYS = (TIMEOUT, "secrets", "environment")
"""The last two are for targets, which hold them against their own options."""


class TimeLimit(NamedTuple):
    """What is said of the time of a unit, and where."""

    unit: str
    seconds: int
    place: Place | None


class Units(NamedTuple):
    """What is said of units: their time limits, and what is for targets alone."""

    limits: tuple[TimeLimit, ...]
    for_targets: Table


def _read(content: object, places: Places) -> Units | Wrong | Mistakes:
    if not isinstance(content, Mapping):
        return Wrong("`units` is not a mapping of units to settings", 'write `units: {"2": {timeout: 10m}}`')
    said = {str(unit): value for unit, value in content.items()}
    if found := [wrong for unit, value in said.items() for wrong in _mistakes(unit, value)]:
        return Mistakes(found)
    limits = tuple(
        TimeLimit(unit, read_duration(value[TIMEOUT]) or 0, nearest(places, (unit, TIMEOUT)))
        for unit, value in said.items()
        if TIMEOUT in value
    )
    rest = {unit: {key: each for key, each in value.items() if key != TIMEOUT} for unit, value in said.items()}
    kept = {unit: value for unit, value in rest.items() if value}
    return Units(limits, Table(kept, {path: place for path, place in places.items() if not path or path[0] in kept}))


def _mistakes(unit: str, said: object) -> Iterator[Wrong]:
    if not isinstance(said, Mapping):
        problem = f"what `units` says of {unit} is not a mapping"
        yield Wrong(problem, f"write `{unit}: {{{TIMEOUT}: 10m}}`, with any of {', '.join(KEYS)}", (unit,))
        return
    for key in said:
        if key not in KEYS:
            yield unknown_key(str(key), KEYS, f"`units` for {unit}", (unit, str(key)))
    if TIMEOUT in said and not read_duration(said[TIMEOUT]):
        problem = f"`units` for {unit}: `{TIMEOUT}` is not a duration from a second to a year"
        yield Wrong(problem, duration_remedy(said[TIMEOUT]), (unit, TIMEOUT))


UNITS: Option[Units] = Option(
    "units", "How long a call of a step may take, and what targets know of it.", _read, levels=(Level.DOCUMENT,)
)
NO_UNITS = Units((), Table())


def with_units(options: Options, units: Units) -> Options:
    """The options of a document, with what is said of units for targets."""
    if not units.for_targets.values:
        return options
    return replace(options, targets={**options.targets, UNITS.name: units.for_targets})
