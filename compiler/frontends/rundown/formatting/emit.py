"""Write sections as lines: each line keeps its line ending, with one blank line between blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from compiler.frontends.frontmatter import FENCE
from compiler.frontends.rundown.formatting.pieces import LISTED, Piece, Section
from compiler.regex import Regex
from compiler.source import LINE_END, Source

SEPARATOR = "<!-- -->"
"""Separates a list from an indented block below it, which Markdown would add to the last item."""

_INDENTED = Regex(r" {2}| ?\t")

Rewrite = Callable[[Piece], str | None]
"""Returns the new line of a piece, or None to keep its lines."""


class Line(Struct, frozen=True):
    """A line, its line ending, and its line number in the source (0 for a new line)."""

    text: str
    end: str
    origin: int = 0


def emit(source: Source, begin: int, sections: Sequence[Section], rewrite: Rewrite) -> list[Line]:
    """Return the lines of a document whose frontmatter ends above line `begin`."""
    return _Emitter(source, rewrite).document(begin, sections)


def text_of(lines: Sequence[Line]) -> str:
    """Join lines into a string."""
    return "".join(line.text + line.end for line in lines)


class _Emitter:
    def __init__(self, source: Source, rewrite: Rewrite) -> None:
        self.source = source
        self.rewrite = rewrite
        ends = LINE_END.findall(source.text)
        written = Counter(end for line, end in zip(source.lines, ends, strict=False) if line.strip())
        self.new_end = max(("\n", "\r\n", "\r"), key=lambda end: written[end])
        self.ends = [*ends, self.new_end]

    def document(self, begin: int, sections: Sequence[Section]) -> list[Line]:
        """Return the frontmatter and all sections, separated by blank lines."""
        lines = [self._kept(number) for number in range(1, begin)]
        before: Piece | None = None
        for piece in (piece for section in sections for piece in section.all()):
            written = list(self._written(piece))
            if lines and not (before and _is_one_list(before, piece)):
                lines.append(self._new("", lines))
            if before and self._would_join(before, piece):
                lines.append(self._new(SEPARATOR, lines))
                lines.append(self._new("", lines))
            if not lines and FENCE.fullmatch(written[0].text):  # a rule on the first line would start a frontmatter
                lines.append(self._new("", lines))
            lines += written
            before = piece
        return lines

    def _written(self, piece: Piece) -> Iterator[Line]:
        line = self.rewrite(piece)
        if line is None:
            yield from map(self._kept, range(piece.first, piece.last + 1))
        else:
            yield Line(line, self.ends[piece.last - 1], piece.last)

    def _kept(self, number: int) -> Line:
        return Line(self.source.lines[number - 1], self.ends[number - 1], number)

    def _new(self, text: str, above: Sequence[Line]) -> Line:
        """Return a line that is not in the source; after a lone CR, an LF would not end its own line."""
        return Line(text, "\r" if above and above[-1].end == "\r" else self.new_end)

    def _would_join(self, before: Piece, piece: Piece) -> bool:
        """Return whether an indented block would join a list that was not above it."""
        if not before.ends_in_list or not _INDENTED.match(self.source.lines[piece.first - 1]):
            return False
        between = self.source.lines[before.last : piece.first - 1]
        follows = before.last < piece.first and not any(line.strip() for line in between)
        return piece.kind not in LISTED and not (follows and before.kind == "TEXT")


def _is_one_list(before: Piece, piece: Piece) -> bool:
    return piece.kind in LISTED and before.kind == piece.kind
