"""Split a document into pieces: whole lines of one kind that belong to one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.build import TEXTS
from compiler.frontends.rundown.scan import Scanned
from compiler.source import Source

OUTLINE = {"STEP", "SUBSTEP"}
LISTED = {"RUNBOOK", "TRANSITION"}
"""The kinds whose list items are separate pieces."""


class Piece(Struct, frozen=True):
    """The lines `first` to `last`, counted from 1, inclusive.

    `kind` is a terminal of the grammar, or REST for comments, rules and link definitions. A piece of text is all
    consecutive text with any REST in between, because prompts are shown as written. `block` is its first block, or None
    for REST. `ends_in_list` is true if an indented block below could join it.
    """

    kind: str
    first: int
    last: int
    block: Block | None = None
    ends_in_list: bool = False


class Section(Struct, frozen=True):
    """A step with its header and pieces; the first section is everything above the first step and has no header."""

    header: Piece | None
    pieces: tuple[Piece, ...]

    @property
    def level(self) -> str:
        """STEP or SUBSTEP, or "" for the first section."""
        return self.header.kind if self.header else ""

    def all(self) -> tuple[Piece, ...]:
        """Return the header and the pieces."""
        return (self.header, *self.pieces) if self.header else self.pieces


def read_sections(scanned: Scanned) -> list[Section]:
    """Return a document's sections; a prose section becomes REST at the end of the step above it."""
    source, blocks, begin = scanned.source, scanned.outline, scanned.begin
    first_step = next((block.line for block in blocks if block.type in OUTLINE), len(source.lines) + 1)
    pieces = list(_pieces(source, [block for block in blocks if block.line >= first_step], first_step))
    starts = [index for index, piece in enumerate(pieces) if piece.kind in OUTLINE]
    bounds = pairwise([*starts, len(pieces)])
    steps = [Section(pieces[start], tuple(_joined(pieces[start + 1 : end]))) for start, end in bounds]
    return [Section(None, tuple(_head(source, blocks, begin, first_step))), *steps]


def _head(source: Source, blocks: Sequence[Block], begin: int, end: int) -> Iterator[Piece]:
    """Yield the title if it comes first and is written with `#`, and the rest above line `end` as one piece."""
    written = [number for number in range(begin, end) if source.lines[number - 1].strip(" \t")]  # CommonMark's spaces
    title = next((block for block in blocks if block.type == "TITLE"), None)
    if written and title and title.line == written[0] and title.info == "#":
        yield Piece("TITLE", title.line, title.line, title)
        del written[0]
    if written:
        yield Piece("REST", written[0], written[-1])


def _pieces(source: Source, blocks: Iterable[Block], begin: int) -> Iterator[Piece]:
    """Yield the blocks from line `begin` on as pieces, and the lines between them."""
    line = begin
    for block in blocks:
        if block.type == "TITLE":  # a late title keeps its place
            continue
        first = _first_line(source, block)
        yield from _rest(source, line, first)
        yield Piece(block.type, first, block.end_line, block, block.type in LISTED or block.info == "list")
        line = block.end_line + 1
    yield from _rest(source, line, len(source.lines) + 1)


def _first_line(source: Source, block: Block) -> int:
    """Return the bullet's line, which may be above the text of its item."""
    line = block.line
    while block.type in LISTED and line > 1 and not source.lines[line - 1][: block.column - 1].strip():
        line, block = line - 1, replace(block, column=len(source.lines[line - 2]) + 1)
    return line


def _rest(source: Source, begin: int, end: int) -> Iterator[Piece]:
    written = [number for number in range(begin, end) if source.lines[number - 1].strip()]
    if written:
        yield Piece("REST", written[0], written[-1])


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield a step's pieces, with consecutive text of a kind joined into one piece."""
    text: Piece | None = None
    between: list[Piece] = []
    for piece in pieces:
        if text and piece.kind == text.kind:
            text, between = replace(text, last=piece.last, ends_in_list=piece.ends_in_list), []
        elif text and piece.kind == "REST":
            between.append(piece)
        else:
            yield from [text, *between] if text else []
            text, between = (piece, []) if piece.kind in TEXTS else (None, [])
            if text is None:
                yield piece
    yield from [text, *between] if text else []
