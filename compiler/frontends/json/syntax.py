"""Problems of a program as JSON, and positions in its text."""

from __future__ import annotations

from msgspec import Struct

from compiler.diagnostic import Diagnostic, Fix, Related
from compiler.json_text import Layout, lay_out
from compiler.source import KeyPath, Lines, Source, Span, nearest


class Problem(Struct, frozen=True):
    """A problem: its code, the path to it, its message, and its help.

    If `is_key`, the key itself is wrong. `other` is the path of a related part, `about` its message. `meant` is the key
    or string that was probably meant.
    """

    code: str
    path: KeyPath
    message: str
    help: str
    is_key: bool = False
    other: KeyPath | None = None
    about: str = ""
    meant: str = ""


class Places:
    """Positions in a source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lines = Lines(source.text)

    def at(self, offset: int) -> Span:
        """Return the span of one character."""
        return self._lines.span(offset, offset + 1)

    def diagnostics(self, problems: list[Problem]) -> list[Diagnostic]:
        """Return the diagnostics of problems."""
        wanted = {path for item in problems for path in (item.path, item.other) if path is not None}
        layout = lay_out(self.source.text, wanted) if problems else Layout()
        return [self._diagnostic(item, layout) for item in problems]

    def _diagnostic(self, item: Problem, layout: Layout) -> Diagnostic:
        span = self._nearest(layout, item.path, is_key=item.is_key)
        related: tuple[Related, ...] = ()
        if item.other is not None:
            other = self._nearest(layout, item.other, is_key=False)
            related = (Related(self.source.path, other, item.about),)
        fix = _respelled(self.source, span, item) if item.meant else None
        return Diagnostic(item.code, self.source.path, span, item.message, item.help, related, fix)

    def _nearest(self, layout: Layout, path: KeyPath, *, is_key: bool) -> Span:
        """Return the position of a path, or of the part around it."""
        if is_key and path in layout.keys:
            return layout.keys[path]
        return nearest(layout.values, path) or self.at(0)


def _respelled(source: Source, span: Span, item: Problem) -> Fix | None:
    """Return the fix that replaces a key or string, if the text has one at this position."""
    text = source.lines[span.line - 1][span.column - 1 : span.end_column - 1]
    written = text[1:-1]
    if text[:1] != '"' or text[-1:] != '"' or '"' in written:
        return None
    return Fix.respelling(Span(span.line, span.column + 1, span.line, span.end_column - 1), written, item.meant)
