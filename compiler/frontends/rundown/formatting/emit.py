"""Writing sections: every line with its own line end, one blank line between blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from compiler.frontends.frontmatter import FENCE
from compiler.frontends.rundown.formatting.pieces import LISTED, Piece, Section
from compiler.regex import Regex
from compiler.source import LINE_END, Source

SEPARATOR = "<!-- -->"
"""Keeps apart a list and an indented block below it, which Markdown would take as part of its last item."""

_INDENTED = Regex(r" {2}| ?\t")

Rewrite = Callable[[Piece], str | None]
"""The line that a piece becomes, or None if its lines stay as they are."""


class Line(Struct, frozen=True):
    """A line, its end, and the line of the source that it comes from (0 for one that is new)."""

    text: str
    end: str
    origin: int = 0


def emit(source: Source, begin: int, sections: Sequence[Section], rewrite: Rewrite) -> list[Line]:
    """The lines of a document whose frontmatter ends above the line `begin`."""
    return _Emitter(source, rewrite).document(begin, sections)


def text_of(lines: Sequence[Line]) -> str:
    """The lines as a text."""
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
        """The frontmatter, then each section below a blank line."""
        lines = [self._kept(number) for number in range(1, begin)]
        before: Piece | None = None
        for piece in (piece for section in sections for piece in section.all()):
            written = list(self._written(piece))
            if lines and not (before and _is_one_list(before, piece)):
                lines.append(self._new("", lines))
            if before and self._would_join(before, piece):
                lines.append(self._new(SEPARATOR, lines))
                lines.append(self._new("", lines))
            if not lines and FENCE.fullmatch(written[0].text):  # a rule must not become the beginning of a frontmatter
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
        """A line that the author did not write. Below a lone CR, a LF would not end a line of its own."""
        return Line(text, "\r" if above and above[-1].end == "\r" else self.new_end)

    def _would_join(self, before: Piece, piece: Piece) -> bool:
        """Whether what is indented here would become part of a list that it did not stand below."""
        if not before.ends_in_list or not _INDENTED.match(self.source.lines[piece.first - 1]):
            return False
        between = self.source.lines[before.last : piece.first - 1]
        follows = before.last < piece.first and not any(line.strip() for line in between)
        return piece.kind not in LISTED and not (follows and before.kind == "TEXT")


def _is_one_list(before: Piece, piece: Piece) -> bool:
    return piece.kind in LISTED and before.kind == piece.kind
