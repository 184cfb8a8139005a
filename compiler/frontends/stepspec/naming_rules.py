"""Check the names of steps, tools and gates (B2, I32)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compiler.diagnostic import DataPath, Diagnostic
from compiler.frontends.stepspec.syntax import STEPS, Called, Document, stages
from compiler.frontends.stepspec.tools import tool_gate
from compiler.issues import SourceMap

LONGEST_NAME = 100
"""In characters. Names become parts of file names."""

_LIMITS = {
    "step id": ", without `/`, and without `-` at the start",
    "gate name": ", without `-` at the start",
    "module name": ", without `-` at the start",
}
"""Extra limits of names that are arguments of commands, where a leading `-` marks an option."""


def name_findings(document: Document, called: Called, places: SourceMap) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a specification's names."""
    for at, name, what in _names(document):
        if problem := _unfit(name, what):
            remedy = f"use a short name on one line{_LIMITS.get(what, '')}"
            yield places.diagnostic("RD856", at, f"{problem} is not a valid {what}", remedy)
    yield from _unique(document, places)
    yield from _gates(document, called, places)


def _names(document: Document) -> Iterator[tuple[DataPath, str, str]]:
    """Yield the names in a document with their paths and kinds."""
    about = document.workflow
    if about:
        yield from (
            (("workflow", key), name, f"{key} name")
            for key, name in (("module", about.module), ("workflow", about.workflow))
            if name is not None
        )
    for number, step in enumerate(document.step_specs):
        at: DataPath = (STEPS, number)
        yield (*at, "id"), step.id, "step id"
        for place, call in enumerate(step.tools or ()):
            yield (*at, "tools", place, "name"), call.name, "tool name"
            if call.gate is not None:
                yield (*at, "tools", place, "gate"), call.gate, "gate name"


def _unfit(name: str, what: str) -> str:
    """Return an invalid name as messages show it, or "" if the name is valid."""
    is_fit = name and name == name.strip() and name.isprintable() and len(name) <= LONGEST_NAME
    if what in _LIMITS:
        is_fit = is_fit and not name.startswith("-")
    if what == "step id":
        is_fit = is_fit and "/" not in name and name not in (".", "..")
    shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    return "" if is_fit else (f"`{shown}`" if name.strip() else "an empty string")


def _unique(document: Document, places: SourceMap) -> Iterator[Diagnostic]:
    first: dict[str, int] = {}
    for number, step in enumerate(document.step_specs):
        before = first.setdefault(step.id.casefold(), number)
        if not step.id or before == number:
            continue
        other = document.step_specs[before].id
        here, there = (STEPS, number, "id"), ((STEPS, before, "id"), "the first one")
        if other == step.id:
            problem = f"two steps have the id `{step.id}`"
            yield places.diagnostic("RD857", here, problem, "change one of them", there)
        else:
            problem = f"the ids `{other}` and `{step.id}` differ only in case, so they would use the same file"
            yield places.diagnostic("RD858", here, problem, "change one of them", there)


def _gates(document: Document, called: Called, places: SourceMap) -> Iterator[Diagnostic]:
    """Check that gates share a name only on purpose, because gates with one name share one approval."""
    made: dict[str, tuple[str, str]] = {}
    spelled: dict[str, str] = {}
    gates = sorted(_written_gates(document, called), key=lambda gate: gate.origin is None)
    has_slash = any("/" in gate.name for gate in gates)  # all stage ids except the step's id have a slash
    named = (stages(step) if has_slash else (step.id,) for step in document.step_specs)
    taken = {stage.casefold(): stage for names in named for stage in names}
    for gate in gates:
        folded = gate.name.casefold()
        other = taken.get(folded) or spelled.setdefault(folded, gate.name)
        if folded in taken or (other != gate.name and gate.origin is None):
            problem = f"the gate `{gate.name}` clashes with `{other}`"
            yield places.diagnostic("RD858", gate.at, problem, "rename one of them")
        elif gate.origin and made.setdefault(gate.name, gate.origin) != gate.origin:
            problem = f"the gate `{gate.name}` also belongs to another tool or step"
            yield places.diagnostic("RD858", gate.at, problem, "set `gate` of the tool to a different name")


class _Gate(Struct, frozen=True):
    """A gate that may be needed. `origin` is its tool and step, None if the document names the gate."""

    name: str
    at: DataPath
    origin: tuple[str, str] | None = None


def _written_gates(document: Document, called: Called) -> Iterator[_Gate]:
    for number, step in enumerate(document.step_specs):
        yield _Gate(called.gate(step.id), (STEPS, number, "id"), ("", step.id))
        for place, call in enumerate(step.tools or ()):
            at: DataPath = (STEPS, number, "tools", place)
            if call.gate:
                yield _Gate(call.gate, (*at, "gate"))
            else:
                yield _Gate(tool_gate(call, step), (*at, "name"), (call.name, step.id))
