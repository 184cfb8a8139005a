"""Update references to steps in the frontmatter: `rd goto ID` (S1) and keys under `steps` (E3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from compiler.frontends.rundown.beyond.declarations import StepSettings
from compiler.frontends.rundown.formatting.emit import Line
from compiler.frontends.rundown.formatting.numbering import Numbering
from compiler.frontends.rundown.syntax import Runbook
from compiler.scenarios import Goto
from compiler.source import Span


def jumps(runbook: Runbook) -> Iterator[Goto]:
    """Yield every `rd goto ID` in a document's scenarios."""
    for scenario in runbook.scenarios:
        yield from scenario.jumps


def find_label(line: str, jump: Goto) -> Span | None:
    """Return the place of the ID in its line, or None if rdc cannot edit it in place."""
    if jump.span is None:
        return None
    pattern = re.compile(rf"\bgoto[ \t]+[\"']?(?P<label>{re.escape(jump.step)})(?![\w.])")
    match = pattern.search(line, jump.span.column - 1, jump.span.end_column - 1)
    return match and Span(jump.span.line, match.start("label") + 1, jump.span.line, match.end("label") + 1)


def find_step(line: str, said: StepSettings) -> Span | None:
    """Return the place of a step's name under `steps`, or None if rdc cannot edit it in place."""
    span = said.place().span
    if span is None:
        return None
    match = re.compile(rf"[\"']?(?P<step>{re.escape(said.step)})(?=[\"']?[ \t]*:)").match(line, span.column - 1)
    return match and Span(span.line, match.start("step") + 1, span.line, match.end("step") + 1)


def renumber_frontmatter(lines: Sequence[Line], runbook: Runbook, numbering: Numbering) -> list[Line]:
    """Return the document's lines with new step numbers in the frontmatter."""
    edited = list(lines)
    places: dict[Span, str] = {}
    for jump in jumps(runbook):
        place = find_label(lines[jump.span.line - 1].text, jump) if jump.span else None
        places |= {place: numbering.label(jump.step)} if place else {}
    for said in runbook.declared.steps:
        span = said.place().span
        place = find_step(lines[span.line - 1].text, said) if span else None
        places |= {place: numbering.path(said.step)} if place else {}
    for place in sorted(places, reverse=True):  # from the end, so that earlier columns stay valid
        line = edited[place.line - 1]
        text = line.text[: place.column - 1] + places[place] + line.text[place.end_column - 1 :]
        edited[place.line - 1] = replace(line, text=text)
    return edited
