"""References to units in the frontmatter: `rd goto ID` in its scenarios (S1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compiler.frontends.rundown.formatting.emit import Line
from compiler.frontends.rundown.formatting.numbering import Numbering
from compiler.frontends.rundown.syntax import Runbook
from compiler.scenarios import Goto
from compiler.source import Span


def jumps(runbook: Runbook) -> Iterator[Goto]:
    """Every `rd goto ID` in the scenarios of a document."""
    for scenario in runbook.scenarios:
        yield from scenario.jumps


def find_label(line: str, jump: Goto) -> Span | None:
    """Where the ID stands in its line; None if it is written in a way that cannot be changed in place."""
    if jump.span is None:
        return None
    pattern = re.compile(rf"\bgoto[ \t]+[\"']?(?P<label>{re.escape(jump.unit)})(?![\w.])")
    match = pattern.search(line, jump.span.column - 1, jump.span.end_column - 1)
    return match and Span(jump.span.line, match.start("label") + 1, jump.span.line, match.end("label") + 1)


def renumber_scenarios(lines: Sequence[Line], runbook: Runbook, numbering: Numbering) -> list[Line]:
    """The lines of a document with the new numbers in its scenarios; all else in them is kept."""
    edited = list(lines)
    wanted = {jump for jump in jumps(runbook) if numbering.label(jump.unit) != jump.unit and jump.span}
    found = ((find_label(lines[jump.span.line - 1].text, jump), jump) for jump in wanted if jump.span)
    places = {place: jump for place, jump in found if place}
    for place in sorted(places, reverse=True):  # so that the columns of what is still to do stay right
        line = edited[place.line - 1]
        text = line.text[: place.column - 1] + numbering.label(places[place].unit) + line.text[place.end_column - 1 :]
        edited[place.line - 1] = line._replace(text=text)
    return edited
