"""Find the parts of a YAML or JSON document, for messages about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from compiler.diagnostic import Diagnostic, Fix, Related
from compiler.source import KeyPath, Source, Span, Spans, nearest

Path = tuple[str | int, ...]


class Places(Struct, frozen=True):
    """The places in a source by path."""

    source: Source
    spans: Spans

    def at(self, path: Path | KeyPath) -> Span:
        """Return the place of a key or item, or of the closest part around it."""
        return nearest(self.spans, tuple(map(str, path))) or self.source.line_span(1)

    def diagnostic(
        self, code: str, path: Path, problem: str, remedy: str, other: tuple[Path, str] | None = None
    ) -> Diagnostic:
        """Return a diagnostic for a path; `other` is a second path with its message."""
        related = (Related(self.source.path, self.at(other[0]), other[1]),) if other else ()
        return Diagnostic(code, self.source.path, self.at(path), on_one_line(problem), on_one_line(remedy), related)

    def respelled(self, path: Path, written: str, meant: str, *, is_value: bool = False) -> Fix | None:
        """Return the fix that respells a key or its value on the first line of its place, or None."""
        span = self.spans.get(tuple(map(str, path)))
        line = self.source.lines[span.line - 1] if span else ""
        if span is None or not meant:
            return None
        column = line.rfind(written, span.column) if is_value else line.find(written, span.column - 1)
        is_key = is_value or line[span.column - 1 : column] in ("", '"', "'")
        place = Span(span.line, column + 1, span.line, column + 1 + len(written))
        return Fix.respelling(place, written, meant) if column >= 0 and is_key else None


def on_one_line(message: str) -> str:
    """Return a message without line breaks and control characters from names in the document."""
    return "".join(character if character.isprintable() else "�" for character in message)


class Where(Struct, frozen=True):
    """A part of a plain value."""

    places: Places
    plain: Mapping[str, Any]
    path: Path

    @property
    def around(self) -> Where:
        """The part around it."""
        return Where(self.places, self.plain, self.path[:-1])

    @property
    def kind(self) -> str:
        """The last key in its path, whose values have the same kind, or "" for the document itself."""
        return next((key for key in reversed(self.path) if isinstance(key, str)), "")

    @property
    def value(self) -> Any:  # noqa: ANN401 (a plain value)
        """Its value, or None."""
        value: Any = self.plain
        for key in self.path:
            value = value.get(key) if isinstance(value, dict) else value[int(key)]
        return value

    def diagnostic(self, code: str, problem: str, remedy: str) -> Diagnostic:
        """Return a diagnostic at this part."""
        return self.places.diagnostic(code, self.path, problem, remedy)
