"""What goes for every unit of a program with inputs and values, and is said once; `runtime_shim/common.py` adds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any

from backends.python.table import Table
from backends.remarks import listed

_CALLING = ("shell", "agent", "tool", "parallel")
_TEXTS = ("title", "prompt", "block", "command", "message", "reason", "arguments", "options", "entries")
_KEYS = ("texts", "placeholders", "values", "edges")
"""What units say only where it differs."""


def without_common(table: Table) -> Table:
    """The table whose units say only what differs; `values` are those that go for all commands."""
    if all(isinstance(initial, int) for initial in table["registers"].values()):
        return table  # as most are: no texts, so nothing goes for every unit
    values = _common_values(table)
    names = [] if values is None else [*_inputs(table), *values]
    registers = {name: initial for name, initial in table["registers"].items() if name not in names}
    units = {name: _unit(unit, names, values or []) for name, unit in table["units"].items()}
    found = table | {"registers": registers, "units": units} | ({"values": values} if values else {})
    if "groups" in table:
        groups = table["groups"].items()
        found["groups"] = {name: _but(group, "placeholders") | _placeholders(group, names) for name, group in groups}
    return found


def explained(table: Table, found: Table) -> Iterator[str]:
    """Sentences on what units do not say for themselves, which `found` is the table without."""
    if len(found["registers"]) == len(table["registers"]):
        return
    kinds = [f"`{kind}`" for kind in ("inputs", "values") if found.get(kind)]
    yield f"{listed(kinds)} are variables of each command, and stand in texts as `{{{{NAME}}}}`."
    if "values" in found:
        yield "Each command may give all of the `values`, in the file that RDC_OUTPUT names."


def _inputs(table: Table) -> list[str]:
    return [item["name"] for item in table.get("inputs", [])]


def _common_values(table: Table) -> list[str] | None:
    """The values of most commands that have all inputs and values as variables; None where most units have nothing."""
    inputs, votes = _inputs(table), Counter[tuple[str, ...]]()
    calling = [unit for unit in table["units"].values() if unit["task"] in _CALLING]
    for unit in calling:
        kept = _kept(unit)
        if kept is not None and unit.get("texts") == _same([*inputs, *kept]):
            votes[tuple(kept)] += 1
    if not votes:
        return None
    values, count = votes.most_common(1)[0]
    is_kept_so = all(table["registers"].get(name, 0) is None for name in (*inputs, *values))
    return list(values) if is_kept_so and count >= sum("texts" not in unit for unit in calling) else None


def _same(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


def _but(unit: Table, *keys: str) -> Table:
    return {key: value for key, value in unit.items() if key not in keys}


def _unit(unit: Table, names: Sequence[str], values: Sequence[str]) -> Table:
    """A unit without what goes for all."""
    said, edges = _but(unit, *_KEYS), unit["edges"]
    texts, kept = unit.get("texts", {}), _kept(unit)
    if unit["task"] in _CALLING and texts != _same(names):
        said["texts"] = texts
    said |= _placeholders(unit, names)
    if kept is None:
        said["gives"] = unit["values"]
    elif unit["task"] == "shell":
        said |= {"values": kept} if kept != values else {}
        edges = [edge | {"do": edge["do"][len(kept) :]} for edge in edges] if kept else edges
    return said | {"edges": edges}


def _kept(unit: Table) -> list[str] | None:
    """The values that each way of a unit keeps first, in this order; None where its ways differ."""
    values, edges = unit.get("values", []), unit["edges"]
    firsts = [edge.get("do", [])[: len(values)] for edge in edges]
    kept = [name for name in map(_value_kept, firsts[0] if firsts else []) if name]
    keeps = [[unit.get("texts", {}).get(name, name), "keep", ["value", name]] for name in kept]
    return kept if sorted(kept) == values and all(first == keeps for first in firsts) else None


def _value_kept(effect: list[Any]) -> str:
    """The name of the value that an effect keeps, "" if it keeps none."""
    match effect:
        case [_, "keep", ["value", str(name)]]:
            return name
        case _:
            return ""


def _placeholders(unit: Table, names: Sequence[str]) -> Table:
    """The marks of a unit but `{{NAME}}` for what all units see; None for what only looks like such a mark."""
    marks, shown = unit.get("placeholders", {}), str([unit.get(key) for key in _TEXTS])
    written = {f"{{{{{name}}}}}": name for name in names}
    common = {mark: [name, "", "", mark] for mark, name in written.items() if mark in shown}
    # Of two marks that begin alike the first one counts, so their order has to stay.
    is_ordered = any(one.startswith(other) for one, other in permutations(marks, 2))
    said = {mark: place for mark, place in marks.items() if is_ordered or common.get(mark) != place}
    said |= {mark: None for mark in common if mark not in marks}
    return {"placeholders": said} if said else {}
