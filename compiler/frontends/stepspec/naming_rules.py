"""The rules over names: of steps, tools and gates (B2, I32)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compiler.diagnostic import Diagnostic
from compiler.frontends.places import Path, Places
from compiler.frontends.stepspec.names import Called, stages
from compiler.frontends.stepspec.syntax import STEPS, Document
from compiler.frontends.stepspec.tools import tool_gate

LONGEST_NAME = 100
"""In characters: names become parts of the names of files."""

_LIMITS = {
    "the id of a step": ", without `/`, that does not begin with `-`",
    "the name of a gate": " that does not begin with `-`",
    "the module of a workflow": " that does not begin with `-`",
}
"""Of names that are given to commands, where a word with `-` at its beginning is an option."""


def name_findings(document: Document, called: Called, places: Places) -> Iterator[Diagnostic]:
    """What is wrong with the names in a specification."""
    for at, name, what in _names(document):
        if problem := _unfit(name, what):
            remedy = f"use a short name on one line{_LIMITS.get(what, '')}"
            yield places.diagnostic("RD856", at, f"{problem} cannot be {what}", remedy)
    yield from _unique(document, places)
    yield from _gates(document, called, places)


def _names(document: Document) -> Iterator[tuple[Path, str, str]]:
    """The names that are written, and what leads to each."""
    about = document.workflow
    if about:
        yield from (
            (("workflow", key), name, f"the {key} of a workflow")
            for key, name in (("module", about.module), ("workflow", about.workflow))
            if name is not None
        )
    for number, step in enumerate(document.step_specs):
        at: Path = (STEPS, number)
        yield (*at, "id"), step.id, "the id of a step"
        for place, call in enumerate(step.tools or ()):
            yield (*at, "tools", place, "name"), call.name, "the name of a tool"
            if call.gate is not None:
                yield (*at, "tools", place, "gate"), call.gate, "the name of a gate"


def _unfit(name: str, what: str) -> str:
    """What messages call a name that is not fit, "" for one that is."""
    is_fit = name and name == name.strip() and name.isprintable() and len(name) <= LONGEST_NAME
    if what in _LIMITS:
        is_fit = is_fit and not name.startswith("-")
    if what == "the id of a step":
        is_fit = is_fit and "/" not in name and name not in (".", "..")
    shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    return "" if is_fit else (f"`{shown}`" if name.strip() else "an empty string")


def _unique(document: Document, places: Places) -> Iterator[Diagnostic]:
    first: dict[str, int] = {}
    for number, step in enumerate(document.step_specs):
        before = first.setdefault(step.id.casefold(), number)
        if not step.id or before == number:
            continue
        other = document.step_specs[before].id
        here, there = (STEPS, number, "id"), ((STEPS, before, "id"), "the first one")
        if other == step.id:
            problem = f"two steps have the id `{step.id}`"
            yield places.diagnostic("RD857", here, problem, "give one of them another id", there)
        else:
            problem = f"the ids `{other}` and `{step.id}` differ in case alone, and would be one file"
            yield places.diagnostic("RD858", here, problem, "give one of them another id", there)


def _gates(document: Document, called: Called, places: Places) -> Iterator[Diagnostic]:
    """Gates of one name have one approval, so that a name must not come about by chance."""
    made: dict[str, tuple[str, str]] = {}
    spelled: dict[str, str] = {}
    gates = sorted(_written_gates(document, called), key=lambda gate: gate.origin is None)
    has_slash = any("/" in gate.name for gate in gates)  # as all stages have but that of the step's own id
    named = (stages(step) if has_slash else (step.id,) for step in document.step_specs)
    taken = {stage.casefold(): stage for names in named for stage in names}
    for gate in gates:
        folded = gate.name.casefold()
        other = taken.get(folded) or spelled.setdefault(folded, gate.name)
        if folded in taken or (other != gate.name and gate.origin is None):
            problem = f"the gate `{gate.name}` would be one with `{other}`"
            yield places.diagnostic("RD858", gate.at, problem, "give one of them another name")
        elif gate.origin and made.setdefault(gate.name, gate.origin) != gate.origin:
            problem = f"the gate `{gate.name}` would be that of another tool or step too"
            yield places.diagnostic("RD858", gate.at, problem, "give the tool a `gate` with a name of its own")


class _Gate(Struct, frozen=True):
    """A gate that may be needed; `origin` is what its name is made of, None for a name that is given."""

    name: str
    at: Path
    origin: tuple[str, str] | None = None


def _written_gates(document: Document, called: Called) -> Iterator[_Gate]:
    for number, step in enumerate(document.step_specs):
        yield _Gate(called.gate(step.id), (STEPS, number, "id"), ("", step.id))
        for place, call in enumerate(step.tools or ()):
            at: Path = (STEPS, number, "tools", place)
            if call.gate:
                yield _Gate(call.gate, (*at, "gate"))
            else:
                yield _Gate(tool_gate(call, step), (*at, "name"), (call.name, step.id))
