"""The rules of documents: which steps they guard, and their verdicts for people and for tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import asdict, replace

from compiler.driver import Compilation
from compiler.ir.rules import Event
from compiler.rules.model import DeclaredRule, RuleResult
from compiler.text.source import Span
from rdc.terminal.cells import cells, visible

Listed = tuple[str, RuleResult]
"""The path of a document, and one of its rules."""

VERDICTS = ("RD420", "RD421")
"""The diagnostics for rules that are broken or not proven."""

MOST_GUARDED = 12  # the most guarded steps in a line for people

_ENDS = {"complete": "COMPLETE", "stop": "STOP", "pass": "COMPLETE", "fail": "STOP"}


def guarded(events: Iterable[Event]) -> tuple[str, ...]:
    """Return the guarded steps without duplicates. `END` is any end of the run, and `2 END` any end of inclusion 2."""
    found = dict.fromkeys((event.step, _ENDS.get(event.word, event.word)) for event in events)
    names: dict[str, None] = {}
    for step, word in found:
        is_any = {(step, "COMPLETE"), (step, "STOP")} <= found.keys()
        names[f"{step} {'END' if is_any and word else word}".strip()] = None
    return tuple(names)


def name_of(declared: DeclaredRule) -> str:
    """Return the name of a rule in its whole program: `2/part.runbook.md/approved` for one of an included document."""
    return f"{declared.scope}/{declared.name}" if declared.scope else declared.name


def listing(rules: Iterable[Listed]) -> str:
    """Return a line for each rule: document, name, verdict and guarded steps."""
    rows = [tuple(visible(cell) for cell in _row(path, result)) for path, result in rules]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _row(path: str, result: RuleResult) -> Iterator[str]:
    yield path
    yield name_of(result.declared)
    yield f"{result.proof.status} (tried)" if result.declared.is_tried else result.proof.status
    names = guarded(result.rule.guards) if result.rule else ()
    shown = ", ".join(names[:MOST_GUARDED]) + (", …" if len(names) > MOST_GUARDED else "")
    yield f"guards {shown}" if shown else ""


def _width(text: str) -> int:
    return sum(cell.width for cell in cells(text))


def plain(path: str, result: RuleResult) -> dict[str, Any]:
    """Return a rule of a document as plain data."""
    declared, place = result.declared, result.declared.place
    return {
        "document": path,
        "name": name_of(declared),
        "rule": declared.sentence,
        "why": declared.why,
        "verdict": result.proof.status,
        "guards": list(guarded(result.rule.guards)) if result.rule else [],
        "try": declared.is_tried,
        "override": declared.override,
        "path": place.path,
        **(asdict(place.span) if place.span else dict.fromkeys(Span.__struct_fields__)),
    }


def despite_rules(one: Compilation) -> Compilation:
    """Return a compilation with its program even if a rule is broken, for commands that draw or replay documents."""
    found = tuple(each for each in one.diagnostics if each.code not in VERDICTS)
    return replace(one, program=one.despite_rules, diagnostics=found)
