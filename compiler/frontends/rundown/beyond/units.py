"""What a document says of its units (E3), and what of that is for the targets alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compiler.frontends.name_lists import name_mistakes, unknown_key
from compiler.frontends.rundown.beyond.declarations import EVERY, UnitSettings
from compiler.frontends.rundown.beyond.texts import text_problem
from compiler.options import Mistakes, Place, Places, Table, Wrong
from compiler.source import KeyPath
from compiler.times import duration_remedy, read_duration

OF_TARGETS = ("secrets", "environment")
"""Keys that are for targets, which hold them against their own options."""

KEYS = ("timeout", "retry-delay", "retry-backoff", "env", *OF_TARGETS)

LARGEST_BACKOFF = 1000


def read_units(content: object, places: Places) -> tuple[UnitSettings, ...] | Wrong | Mistakes:
    """The settings in a plain value whose scalars are as they were written."""
    if not isinstance(content, Mapping):
        return Wrong("`units` is not a mapping of units to settings", 'write `units: {"1": {timeout: 10m}}`')
    said = {str(unit): value for unit, value in content.items()}
    if found := [wrong for unit, value in said.items() for wrong in _mistakes(unit, value)]:
        return Mistakes(found)
    return tuple(_settings(unit, value or {}, _beneath(places, unit)) for unit, value in said.items())


def _beneath(places: Places, unit: str) -> dict[KeyPath, Place]:
    inside = {path[1:]: place for path, place in places.items() if path[:1] == (unit,)}
    return {(): places[()], **inside}


def _settings(unit: str, said: Mapping[str, Any], places: Places) -> UnitSettings:
    backoff = said.get("retry-backoff")
    return UnitSettings(
        unit,
        places,
        read_duration(said.get("timeout")),
        read_duration(said.get("retry-delay")),
        None if backoff is None else int(backoff),
        dict(said.get("env") or {}),
    )


def _mistakes(unit: str, said: object) -> Iterator[Wrong]:
    if said is None:
        return
    name = "all units" if unit == EVERY else unit
    if not isinstance(said, Mapping):
        remedy = f"write `{unit}: {{timeout: 10m}}`, with any of {', '.join(KEYS)}"
        yield Wrong(f"what `units` says of {name} is not a mapping", remedy, (unit,))
        return
    for key, value in said.items():
        yield from _key_mistakes(f"`units` for {name}", str(key), value, (unit, str(key)))


def _key_mistakes(inside: str, key: str, value: object, path: KeyPath) -> Iterator[Wrong]:
    if key not in KEYS:
        yield unknown_key(key, KEYS, inside, path)
    elif key == "env":
        yield from _env_mistakes(inside, value, path)
    elif key == "retry-backoff":
        if not (isinstance(value, str) and value.isascii() and value.isdigit() and _number(value) >= 1):
            problem = f"{inside}: `{key}` is not a whole number from 1 to {LARGEST_BACKOFF}"
            yield Wrong(problem, "write by what each further delay is multiplied, such as 2", path)
    elif key not in OF_TARGETS:
        seconds = read_duration(value)
        if seconds is None or (key == "timeout" and seconds == 0):
            yield Wrong(f"{inside}: `{key}` is not a duration up to a year", duration_remedy(value), path)


def _number(digits: str) -> int:
    """The number of some digits; 0 if it is too large."""
    return int(digits) if len(digits) < 6 and int(digits) <= LARGEST_BACKOFF else 0


def _env_mistakes(inside: str, env: object, path: KeyPath) -> Iterator[Wrong]:
    if env is not None and not isinstance(env, Mapping):
        yield Wrong(f"{inside}: `env` is not a mapping of names to texts", "write `env: {NAME: text}`", path)
        return
    for key, value in (env or {}).items():
        name, place = str(key), (*path, str(key))
        yield from name_mistakes(name, "an environment variable here", place)
        if problem := text_problem(value):
            yield Wrong(f"{inside}: the value of `{name}` cannot be taken as a text: {problem}", "quote it", place)


# --- What is for targets ---------------------------------------------------------------------------------------------


def table_for_targets(content: object, places: Places) -> Table | None:
    """What `units` says for targets, as plain values; None if that is nothing."""
    units = content if isinstance(content, Mapping) else {}
    said = {str(unit): _for_targets(value) for unit, value in units.items() if isinstance(value, Mapping)}
    kept = {unit: value for unit, value in said.items() if value}
    return Table(kept, {path: place for path, place in places.items() if _is_kept(path, kept)}) if kept else None


def _for_targets(said: Mapping[str, object]) -> dict[str, object]:
    return {str(key): value for key, value in said.items() if key in OF_TARGETS}


def _is_kept(path: KeyPath, kept: Mapping[str, Mapping[str, object]]) -> bool:
    return not path or (path[0] in kept and (len(path) == 1 or path[1] in kept[path[0]]))


def joined_tables(tables: Iterable[tuple[str, Table]]) -> Table:
    """The tables of a document and of those that it includes, each with the id of its inclusion, the outer ones first.

    Of two environments for one unit the outer one counts, of secrets all.
    """
    values: dict[str, dict[str, object]] = {}
    places: dict[KeyPath, Place] = {}
    for inclusion, table in tables:
        for unit, said in table.values.items():
            values[full_id(inclusion, unit)] = _joined(values.get(full_id(inclusion, unit), {}), said)
        for path, place in table.places.items():
            places.setdefault((full_id(inclusion, path[0]), *path[1:]) if path else (), place)
    return Table(values, places)


def _joined(outer: Mapping[str, object], inner: Any) -> dict[str, object]:  # noqa: ANN401 (targets know what it may be)
    mine, other = outer.get("secrets"), inner.get("secrets")
    both = {"secrets": [*mine, *other]} if isinstance(mine, list) and isinstance(other, list) else {}
    return {**inner, **outer, **both}


def full_id(inclusion: str, unit: str) -> str:
    """The id in the program of a unit that a document names; `inclusion` is the id of where it is included."""
    if not inclusion:
        return unit
    return inclusion if unit == EVERY else f"{inclusion}/{unit}"
