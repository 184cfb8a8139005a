"""Convert places in a document to an editor's positions, which count UTF-16 codes from 0, and back."""

from bisect import bisect_left
from itertools import zip_longest

from lsprotocol.types import Position, Range, TextEdit
from msgspec import Struct

from compiler.text.regex import Regex
from compiler.text.source import LINE_END, Span, line_end_of

MARK = "\ufeff"
"""A byte-order mark. Editors hide it, and the compiler doesn't count it, but some editors send it."""

_WIDE = Regex("[\U00010000-\U0010ffff]")


class Point(Struct, frozen=True, gc=False):
    """A position in an answer with thousands of them: `Position` takes five times as long."""

    line: int
    character: int


class Area(Struct, frozen=True, gc=False):
    """A range in an answer with thousands of them."""

    start: Point
    end: Point


class Lines:
    """The lines of a text, as the compiler and the protocol count them: form feeds and U+2028 don't end a line."""

    def __init__(self, text: str, rows: tuple[str, ...] | None = None) -> None:
        self.text = text
        self.rows = rows or _rows(text)
        self._wide: dict[int, list[int]] = {}
        self._shift = len(text) - len(text.removeprefix(MARK))

    def position(self, line: int, column: int) -> Position:
        """Return the position of a place."""
        return Position(*self._codes(line, column))

    def range(self, span: Span | None) -> Range:
        """Return the range of a span. Without one, it is the start of the text."""
        if span is None:
            return Range(Position(0, 0), Position(0, 0))
        return Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def area(self, span: Span) -> Area:
        """Return the range of a span, as `range` does."""
        start, end = self._codes(span.line, span.column), self._codes(span.end_line, span.end_column)
        return Area(Point(*start), Point(*end))

    def place(self, position: Position) -> tuple[int, int]:
        """Return the line and the column of a position; behind the end of a line or of the text, that end."""
        if position.line >= len(self.rows):
            return len(self.rows), len(self.rows[-1]) + 1
        offset = max(position.character - self._shift * (position.line == 0), 0)
        starts = [index + before for before, index in enumerate(self._wide_in(position.line))]
        return position.line + 1, min(offset - bisect_left(starts, offset), len(self.rows[position.line])) + 1

    def before(self, position: Position) -> str:
        """Return the line's text before a position."""
        line, column = self.place(position)
        return self.rows[line - 1][: column - 1]

    def replacing(self, text: str) -> list[TextEdit]:
        """Return an edit of few lines that gives the document another text; [] without a change."""
        old, new = self.rows, _rows(text)
        if old == new:
            return []
        first = next(number for number, (one, other) in enumerate(zip_longest(old, new)) if one != other)
        most = min(len(old), len(new)) - first
        same = next((number for number in range(most) if old[-1 - number] != new[-1 - number]), most)
        if same == most:  # lines are only added or removed: their place needs an equal line
            first, same = (first, same - 1) if same else (first - 1, 0)
        end = len(old) - same
        text = line_end_of(self.text).join(new[first : len(new) - same])
        return [TextEdit(self.range(Span(first + 1, 1, end, len(old[end - 1]) + 1)), text)]

    def _codes(self, line: int, column: int) -> tuple[int, int]:
        number = min(max(line, 1), len(self.rows)) - 1
        row = self.rows[number]
        index = min(max(column, 1) - 1, len(row))
        if not row.isascii():
            index += bisect_left(self._wide_in(number), index)
        return number, index if number else index + self._shift

    def _wide_in(self, number: int) -> list[int]:
        """Return the indexes of the characters of a line that have two UTF-16 codes; most lines have none."""
        if number not in self._wide:
            self._wide[number] = [found.start() for found in _WIDE.finditer(self.rows[number])]
        return self._wide[number]


def _rows(text: str) -> tuple[str, ...]:
    return tuple(LINE_END.sub("\n", text.removeprefix(MARK)).split("\n"))
