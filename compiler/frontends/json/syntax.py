"""Positions in the text of a program as JSON."""

from collections.abc import Sequence

from compiler.diagnostics.model import DataPath, Diagnostic, Fix, Issue, Related
from compiler.reading.json import Layout, lay_out
from compiler.text.source import KeyPath, Lines, Source, Span, nearest


class Positions:
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
            related = (Related(self.source.path, self._nearest(layout, key_path(issue.first)), "first defined here"),)
        fix = _respelled(self.source, span, issue.meant) if issue.meant else None
        return Diagnostic(code, self.source.path, span, issue.message, issue.help, related, fix)

    def _nearest(self, layout: Layout, path: KeyPath) -> Span:
        """Return the position of a path, or of the part around it."""
        return nearest(layout.values, path) or self.at(0)


def key_path(path: DataPath) -> KeyPath:
    """Return a path as layouts have it, with indexes as strings."""
    return tuple(map(str, path))


def _respelled(source: Source, span: Span, meant: str) -> Fix | None:
    text = source.lines[span.line - 1][span.column - 1 : span.end_column - 1]
    written = text[1:-1]
    if text[:1] != '"' or text[-1:] != '"' or '"' in written:
        return None
    return Fix.respelling(Span(span.line, span.column + 1, span.line, span.end_column - 1), written, meant)
