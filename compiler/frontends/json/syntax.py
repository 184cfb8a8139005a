"""What is wrong in a program as JSON, and where things stand in its text."""

from __future__ import annotations

from msgspec import Struct

from compiler.diagnostic import Diagnostic, Fix, Related
from compiler.json_text import Layout, Lines, Stretch, lay_out
from compiler.source import KeyPath, Source, Span


class Problem(Struct, frozen=True):
    """Something that is wrong in a text: a code, what leads to it, what is wrong, and what to do.

    `is_key` says that it is the key itself; `other` leads to something that it has to do with, and `about` says what.
    `meant` is the key that was probably meant, or the string.
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
    """Where things stand in a source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lines = Lines(source.text)

    def span(self, place: Stretch) -> Span:
        """A stretch as lines and columns, to the end of its first line at most."""
        return self._lines.span(place)

    def at(self, offset: int) -> Span:
        """A single character."""
        return self.span(Stretch(offset, offset + 1))

    def diagnostics(self, problems: list[Problem]) -> list[Diagnostic]:
        """Problems at their places."""
        wanted = {path for item in problems for path in (item.path, item.other) if path is not None}
        layout = lay_out(self.source.text, wanted) if problems else Layout()
        return [self._diagnostic(item, layout) for item in problems]

    def _diagnostic(self, item: Problem, layout: Layout) -> Diagnostic:
        span = self.span(_nearest(layout, item.path, is_key=item.is_key))
        related: tuple[Related, ...] = ()
        if item.other is not None:
            other = self.span(_nearest(layout, item.other, is_key=False))
            related = (Related(self.source.path, other, item.about),)
        fix = _respelled(self.source, span, item) if item.meant else None
        return Diagnostic(item.code, self.source.path, span, item.message, item.help, related, fix)


def _respelled(source: Source, span: Span, item: Problem) -> Fix | None:
    """The fix that writes another key or string, if one stands there."""
    text = source.lines[span.line - 1][span.column - 1 : span.end_column - 1]
    written = text[1:-1]
    if text[:1] != '"' or text[-1:] != '"' or '"' in written:
        return None
    return Fix.respelling(Span(span.line, span.column + 1, span.line, span.end_column - 1), written, item.meant)


def _nearest(layout: Layout, path: KeyPath, *, is_key: bool) -> Stretch:
    """Where something stands, else what is around it."""
    if is_key and path in layout.keys:
        return layout.keys[path]
    while path not in layout.values and path:
        path = path[:-1]
    return layout.values.get(path, Stretch(0, 1))
