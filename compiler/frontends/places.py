"""Where the parts of a document that is YAML or JSON stand, for messages about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from compiler.diagnostic import Diagnostic, Fix, Related
from compiler.source import KeyPath, Source, Span, Spans, nearest

Path = tuple[str | int, ...]


class Places(Struct, frozen=True):
    """The places in a source by what leads to them."""

    source: Source
    spans: Spans

    def at(self, path: Path | KeyPath) -> Span:
        """Where a key or an item stands, else what is around it."""
        keys = tuple(map(str, path))
        try:
            return self.spans[keys]
        except KeyError:
            return nearest(self.spans, keys) or self.source.line_span(1)

    def diagnostic(
        self, code: str, path: Path, problem: str, remedy: str, other: tuple[Path, str] | None = None
    ) -> Diagnostic:
        """A finding at a place; `other` leads to a second one, and says what is there."""
        related = (Related(self.source.path, self.at(other[0]), other[1]),) if other else ()
        return Diagnostic(code, self.source.path, self.at(path), on_one_line(problem), on_one_line(remedy), related)

    def respelled(self, path: Path, written: str, meant: str, *, is_value: bool = False) -> Fix | None:
        """The fix that corrects a key, or its value, if it is written on the first line of its place."""
        span = self.spans.get(tuple(map(str, path)))
        line = self.source.lines[span.line - 1] if span else ""
        if span is None or not meant:
            return None
        column = line.rfind(written, span.column) if is_value else line.find(written, span.column - 1)
        is_key = is_value or line[span.column - 1 : column] in ("", '"', "'")
        place = Span(span.line, column + 1, span.line, column + 1 + len(written))
        return Fix.respelling(place, written, meant) if column >= 0 and is_key else None


def on_one_line(message: str) -> str:
    """A message without the line ends and controls that names of a document may have."""
    return "".join(character if character.isprintable() else "�" for character in message)


class Where(Struct, frozen=True):
    """A part of a plain value."""

    places: Places
    plain: Mapping[str, Any]
    path: Path

    @property
    def around(self) -> Where:
        """The part that it stands in."""
        return Where(self.places, self.plain, self.path[:-1])

    @property
    def kind(self) -> str:
        """The key that it stands under, whose values are of one kind; "" for the document itself."""
        return next((key for key in reversed(self.path) if isinstance(key, str)), "")

    @property
    def value(self) -> Any:  # noqa: ANN401 (a plain value)
        """What stands there, None for nothing."""
        value: Any = self.plain
        for key in self.path:
            value = value.get(key) if isinstance(value, dict) else value[int(key)]
        return value

    def diagnostic(self, code: str, problem: str, remedy: str) -> Diagnostic:
        """A finding here."""
        return self.places.diagnostic(code, self.path, problem, remedy)
