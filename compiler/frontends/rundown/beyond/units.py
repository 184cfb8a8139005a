"""What a document and those that it includes say of their units for targets, as one table (E3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compiler.frontends.unit_settings import EVERY
from compiler.options import Place, Table
from compiler.source import KeyPath


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
