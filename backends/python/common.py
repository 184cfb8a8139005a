"""Omits from steps what other settings imply, and states once what applies to all steps.

`runtime_shim/data/shared.py` adds both again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any

from backends.python.table import Table
from backends.remarks import listed

_CALLING = ("shell", "agent", "tool", "parallel")
_TEXTS = ("title", "prompt", "block", "command", "message", "reason", "arguments", "options", "entries")
_KEYS = ("texts", "placeholders", "outputs", "edges")
"""Settings that steps have only where they differ."""


def without_common(table: Table) -> Table:
    """Return the table whose steps have only differences. `outputs` are those of all commands."""
    if all(isinstance(initial, int) for initial in table["registers"].values()):
        return table  # true for most tables: no variables, so nothing applies to every step
    values = _common_values(table)
    names = [] if values is None else [*_inputs(table), *values]
    registers = {name: initial for name, initial in table["registers"].items() if name not in names}
    marks = {f"{{{{{name}}}}}": [name, "", "", f"{{{{{name}}}}}"] for name in names}
    shared = _shared(table, marks) if table.get("inputs") or values else {}
    marks |= shared
    nodes = {name: _node(node, names, values or [], marks) for name, node in table["nodes"].items()}
    found = table | {"registers": registers, "nodes": nodes} | ({"outputs": values} if values else {})
    found |= {"placeholders": shared} if shared else {}
    if "groups" in table:
        groups = table["groups"].items()
        found["groups"] = {name: _but(group, "placeholders") | _placeholders(group, marks) for name, group in groups}
    return found


def _shared(table: Table, known: Table) -> Table:
    """Return the other marks that mean the same in several steps."""
    places: dict[str, list[Any]] = {}
    for item in (*table["nodes"].values(), *table.get("groups", {}).values()):
        for mark, place in item.get("placeholders", {}).items():
            places.setdefault(mark, []).append(place)
    several = {mark: found for mark, found in places.items() if mark not in known and len(found) > 1}
    return {mark: found[0] for mark, found in several.items() if all(one == found[0] for one in found)}


def explained(table: Table, found: Table) -> Iterator[str]:
    """Yield sentences about the settings that `found` omits from the table."""
    if "placeholders" in found:
        yield "The `placeholders` of `about` apply to every string that contains them."
    if len(found["registers"]) == len(table["registers"]):
        return
    kinds = [f"`{kind}`" for kind in ("inputs", "outputs") if found.get(kind)]
    yield f"{listed(kinds)} are environment variables of each command, and `{{{{NAME}}}}` in strings."
    if "outputs" in found:
        yield "Each command can set all `outputs` in the file $RDC_OUTPUT."


def _inputs(table: Table) -> list[str]:
    return [item["name"] for item in table.get("inputs", [])]


def _common_values(table: Table) -> list[str] | None:
    """Return the outputs of most commands that see all inputs and outputs, or None if most steps see none."""
    inputs, votes = _inputs(table), Counter[tuple[str, ...]]()
    calling = [node for node in table["nodes"].values() if node["task"] in _CALLING]
    for node in calling:
        kept = _kept(node)
        if kept is not None and node.get("texts") == _same([*inputs, *kept]):
            votes[tuple(kept)] += 1
    if not votes:
        return None
    values, count = votes.most_common(1)[0]
    is_kept_so = all(table["registers"].get(name, 0) is None for name in (*inputs, *values))
    return list(values) if is_kept_so and count >= sum("texts" not in node for node in calling) else None


def _same(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


def _but(node: Table, *keys: str) -> Table:
    return {key: value for key, value in node.items() if key not in keys}


def _node(node: Table, names: Sequence[str], values: Sequence[str], marks: Table) -> Table:
    """Return a step without the settings of all steps."""
    said, edges = _but(node, *_KEYS), node["edges"]
    texts, kept = node.get("texts", {}), _kept(node)
    if node["task"] in _CALLING and texts != _same(names):
        said["texts"] = texts
    said |= _placeholders(node, marks)
    if kept is None:
        said["gives"] = node["outputs"]
    elif node["task"] == "shell":
        said |= {"outputs": kept} if kept != values else {}
        edges = [edge | {"do": edge["do"][len(kept) :]} for edge in edges] if kept else edges
    return said | {"edges": edges}


def _kept(node: Table) -> list[str] | None:
    """Return the outputs that each transition of a step keeps first, in order, or None if they differ."""
    values, edges = node.get("outputs", []), node["edges"]
    firsts = [edge.get("do", [])[: len(values)] for edge in edges]
    kept = [name for name in map(_value_kept, firsts[0] if firsts else []) if name]
    keeps = [[node.get("texts", {}).get(name, name), "keep", ["output", name]] for name in kept]
    return kept if sorted(kept) == values and all(first == keeps for first in firsts) else None


def _value_kept(effect: list[Any]) -> str:
    """Return the name of the output that an effect keeps, or ""."""
    match effect:
        case [_, "keep", ["output", str(name)]]:
            return name
        case _:
            return ""


def _placeholders(node: Table, known: Table) -> Table:
    """Return the marks of a step that not all steps see; None for a string that only looks like a mark."""
    marks, shown = node.get("placeholders", {}), str([node.get(key) for key in _TEXTS])
    common = {mark: place for mark, place in known.items() if mark in shown}
    # The first of two marks with the same start counts, so their order must stay.
    is_ordered = any(one.startswith(other) for one, other in permutations(marks, 2))
    said = {mark: place for mark, place in marks.items() if is_ordered or common.get(mark) != place}
    said |= {mark: None for mark in common if mark not in marks}
    return {"placeholders": said} if said else {}
