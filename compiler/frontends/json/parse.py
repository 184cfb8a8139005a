"""Parse JSON into a plain value, within the limits of a program, and find the places of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from compiler.diagnostic import DataPath, Diagnostic, Fix, Issue, Related
from compiler.frontends.json.lower import MOST_SHOWN
from compiler.frontends.repeated import stand_again
from compiler.json_text import BrokenJsonError, Layout, lay_out, load_json
from compiler.source import KeyPath, Lines, Source, Span, nearest

DEEPEST = 32
"""In nested lists and objects. No program needs more, and Python reads them recursively."""

MOST_VALUES = 500_000
"""Per file. Each value takes much more memory than its text."""

_UNCLEAR = "; programs that read JSON disagree which one counts"


class Parsed(NamedTuple):
    """The plain value of a JSON text and its layout, or the errors in it."""

    value: object
    layout: Layout
    diagnostics: tuple[Diagnostic, ...]


def parse(source: Source, places: Places) -> Parsed:
    """Parse JSON. The value is valid only if there are no diagnostics."""
    try:
        value = load_json(source.text)
    except BrokenJsonError as error:
        return Parsed(None, Layout(), (_no_json(source, places, error),))
    layout = lay_out(source.text)
    if layout.depth > DEEPEST:
        return Parsed(None, layout, (_too_deep(source),))
    if layout.count > MOST_VALUES:
        problem = f"the file has {layout.count:,} values; the limit is {MOST_VALUES:,}"
        return Parsed(
            None, layout, (Diagnostic("RD061", source.path, None, problem, "split it into several programs"),)
        )
    return Parsed(value, layout, tuple(stand_again("RD062", source, layout.repeated[:MOST_SHOWN], _UNCLEAR)))


def _too_deep(source: Source) -> Diagnostic:
    problem = f"lists and objects are nested more than {DEEPEST} deep"
    return Diagnostic(
        "RD061", source.path, None, problem, "look for a missing bracket; programs are never nested this deep"
    )


def _no_json(source: Source, places: Places, error: BrokenJsonError) -> Diagnostic:
    if error.position is None:
        return _too_deep(source)
    if source.text.strip():
        fix = Fix.by(places.at(error.position), "", is_safe=True) if error.is_surplus else None
        return Diagnostic("RD060", source.path, places.at(error.position), str(error), error.remedy, fix=fix)
    remedy = "write a program; docs/formats/json.md has examples"
    return Diagnostic("RD060", source.path, places.at(error.position), "the file is empty", remedy)


class Places:
    """Positions in a source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lines = Lines(source.text)

    def at(self, offset: int) -> Span:
        """Return the span of one character."""
        return self._lines.span(offset, offset + 1)

    def diagnostics(self, found: Sequence[tuple[str, Issue]]) -> list[Diagnostic]:
        """Return the diagnostics of issues with codes."""
        wanted = {key_path(path) for _, issue in found for path in (issue.path, issue.first) if path is not None}
        layout = lay_out(self.source.text, wanted) if found else Layout()
        return [self._diagnostic(code, issue, layout) for code, issue in found]

    def _diagnostic(self, code: str, issue: Issue, layout: Layout) -> Diagnostic:
        path = key_path(issue.path)
        is_key = code == "RD063" and path in layout.keys
        span = layout.keys[path] if is_key else self._nearest(layout, path)
        related: tuple[Related, ...] = ()
        if issue.first is not None:
            first = self._nearest(layout, key_path(issue.first))
            related = (Related(self.source.path, first, "first defined here"),)
        fix = _respelled(self.source, span, issue.meant) if issue.meant else None
        return Diagnostic(code, self.source.path, span, issue.message, issue.help, related, fix)

    def _nearest(self, layout: Layout, path: KeyPath) -> Span:
        """Return the position of a path, or of the part around it."""
        return nearest(layout.values, path) or self.at(0)


def key_path(path: DataPath) -> KeyPath:
    """Return a path as layouts have it, with indexes as strings."""
    return tuple(map(str, path))


def _respelled(source: Source, span: Span, meant: str) -> Fix | None:
    """Return the fix that replaces a key or string, if the text has one at this position."""
    text = source.lines[span.line - 1][span.column - 1 : span.end_column - 1]
    written = text[1:-1]
    if text[:1] != '"' or text[-1:] != '"' or '"' in written:
        return None
    return Fix.respelling(Span(span.line, span.column + 1, span.line, span.end_column - 1), written, meant)
