"""Split a document into pieces: whole lines of one kind that belong to one step."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.rundown import Layout
from compiler.frontends.rundown.parse.blocks import Block
from compiler.frontends.rundown.parse.build import TEXTS
from compiler.frontends.rundown.parse.outline import BODIES, Scanned
from compiler.frontends.rundown.syntax import Transition
from compiler.reading.comments import marks_in
from compiler.reading.frontmatter import FENCE
from compiler.text.regex import Regex
from compiler.text.source import LINE_END, Source

OUTLINE = {"STEP", "SUBSTEP"}
LISTED = {"RUNBOOK", "TRANSITION"}
"""The kinds whose list items are separate pieces."""


class Piece(Struct, frozen=True):
    """The lines `first` to `last`, counted from 1, inclusive.

    `kind` is a terminal of the grammar, or REST for comments, rules and link definitions. A piece of text is all
    consecutive text with any REST in between, because prompts are shown as written. `block` is its first block, or None
    for REST. `ends_in_list` is true if an indented block below could join it, `is_mark` for marks of an importer.
    """

    kind: str
    first: int
    last: int
    block: Block | None = None
    ends_in_list: bool = False
    is_mark: bool = False


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
    source, blocks, start = scanned.source, scanned.outline, scanned.frontmatter.next_line
    first_step = next((block.line for block in blocks if block.type in OUTLINE), len(source.lines) + 1)
    pieces = list(_pieces(source, [block for block in blocks if block.line >= first_step], first_step))
    bounds = pairwise([*[index for index, piece in enumerate(pieces) if piece.kind in OUTLINE], len(pieces)])
    steps = [Section(pieces[start], tuple(_joined(pieces[start + 1 : end]))) for start, end in bounds]
    return [Section(None, tuple(_head(source, blocks, start, first_step))), *steps]


def _head(source: Source, blocks: Sequence[Block], start: int, end: int) -> Iterator[Piece]:
    """Yield the title if it comes first and is written with `#`, and the rest above line `end` as one piece."""
    written = [number for number in range(start, end) if source.lines[number - 1].strip(" \t")]  # CommonMark's spaces
    title = next((block for block in blocks if block.type == "TITLE"), None)
    if written and title and title.line == written[0] and title.info == "#":
        yield Piece("TITLE", title.line, title.line, title)
        del written[0]
    if written:
        yield Piece("REST", written[0], written[-1])


def _pieces(source: Source, blocks: Iterable[Block], start: int) -> Iterator[Piece]:
    line = start
    for block in blocks:
        if block.type == "TITLE":  # a late title keeps its place
            continue
        first = _first_line(source, block)
        yield from _rest(source, line, first)
        yield Piece(block.type, first, block.end_line, block, block.type in LISTED or block.info == "list")
        line = block.end_line + 1
    yield from _rest(source, line, len(source.lines) + 1)


def _first_line(source: Source, block: Block) -> int:
    line = block.line
    while block.type in LISTED and line > 1 and not source.lines[line - 1][: block.column - 1].strip():
        line, block = line - 1, replace(block, column=len(source.lines[line - 2]) + 1)
    return line


def _rest(source: Source, start: int, end: int) -> Iterator[Piece]:
    written = [number for number in range(start, end) if source.lines[number - 1].strip()]
    marked = sum(1 for number in takewhile(marks_in(source).__contains__, written))
    for first, last, is_mark in ((0, marked, True), (marked, len(written), False)):
        if first < last:
            yield Piece("REST", written[first], written[last - 1], is_mark=is_mark)


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
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


ORDER: dict[Layout, tuple[str, ...]] = {
    "after-body": ("TEXT", "CODE", "RUNBOOK", "TRANSITION", "REMARK", "LATER"),
    "after-header": ("TRANSITION", "TEXT", "CODE", "RUNBOOK", "REMARK", "LATER"),
}

MODIFIED = Regex(r"(PASS|FAIL|YES|NO)[ \t]+(ALL|ANY)")


def arrange(sections: Sequence[Section], written: Layout | None, wanted: Layout) -> list[Section]:
    """Return the sections with each step's parts in order; `written` is None if the document mixes both layouts."""
    head, *steps = sections
    return [head, *(_ordered(step, wanted) for step in _settled(steps, written, wanted))]


def _settled(steps: Sequence[Section], written: Layout | None, wanted: Layout) -> list[Section]:
    """Move transitions from below the last substep to their place in the step (V8)."""
    # The layout `after-header` has no such place. There a modifier has no meaning and is removed.
    settled = list(steps)
    for index, node in enumerate(steps):
        following = steps[index + 1].level if index + 1 < len(steps) else "STEP"
        if node.level != "SUBSTEP" or following != "STEP" or any(piece.kind == "RUNBOOK" for piece in node.pieces):
            continue
        late = list(_late(node, written, wanted))
        step = next((number for number in reversed(range(index)) if steps[number].level == "STEP"), index)
        left = [piece for piece in node.pieces if piece not in late]
        if (written, wanted) == ("after-header", "after-body"):
            left = [_without_modifier(piece) for piece in left]
        settled[index] = replace(node, pieces=tuple(left))
        settled[step] = _with_late(settled[step], late)
    return settled


def _with_late(step: Section, late: Sequence[Piece]) -> Section:
    end = len(step.pieces)
    while end and step.pieces[end - 1].kind == "REST":
        end -= 1
    return replace(step, pieces=(*step.pieces[:end], *late, *step.pieces[end:]))


def _late(step: Section, written: Layout | None, wanted: Layout) -> Iterable[Piece]:
    """Return transitions of a last substep that belong to its step: in the default layout, those with ALL or ANY."""
    # If a document mixes both layouts, the lines below a body are in the default layout.
    if written == "after-header":
        return []
    start = 0
    if written is None and wanted == "after-header":
        bodies = (number for number, piece in enumerate(step.pieces) if piece.kind in {"TEXT", "CODE"})
        start = next(bodies, len(step.pieces))
    found = (piece for piece in step.pieces[start:] if piece.kind == "TRANSITION")
    return [piece for piece in found if piece.block and MODIFIED.match(piece.block.text)]


def _without_modifier(piece: Piece) -> Piece:
    if piece.kind != "TRANSITION" or piece.block is None or not isinstance(piece.block.parsed, Transition):
        return piece
    text = MODIFIED.sub(r"\1", piece.block.text, count=1)
    return replace(piece, block=replace(piece.block, text=text, parsed=replace(piece.block.parsed, modifier=None)))


def _ordered(step: Section, layout: Layout) -> Section:
    """Return the step with its parts in order; a comment stays with the part below it, and text below a body there."""
    # Marks of an importer stay below the header.
    groups: list[tuple[str, list[Piece]]] = []
    lead: list[Piece] = []
    marked = step.pieces[: step.pieces[:1] != () and step.pieces[0].is_mark]
    for piece in step.pieces[len(marked) :]:
        lead.append(piece)
        if piece.kind == "REMARK" and groups and groups[-1][0] in BODIES:
            groups[-1][1].extend(lead)
            lead = []
        elif piece.kind != "REST":
            groups.append((piece.kind, lead))
            lead = []
    groups.sort(key=lambda group: ORDER[layout].index(group[0]))
    return replace(step, pieces=(*marked, *(piece for _, group in groups for piece in group), *lead))


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


def text_of(lines: Sequence[Line]) -> str:
    """Join lines into a string."""
    return "".join(line.text + line.end for line in lines)


class Emitter:
    """Write a document whose pieces may have moved."""

    def __init__(self, source: Source, rewrite: Rewrite) -> None:
        self.source = source
        self.rewrite = rewrite
        ends = LINE_END.findall(source.text)
        written = Counter(end for line, end in zip(source.lines, ends, strict=False) if line.strip())
        self.new_end = max(("\n", "\r\n", "\r"), key=lambda end: written[end])
        self.ends = [*ends, self.new_end]

    def document(self, start: int, sections: Sequence[Section]) -> list[Line]:
        """Return the frontmatter, which ends above line `start`, and all sections, separated by blank lines."""
        lines = [self._kept(number) for number in range(1, start)]
        before: Piece | None = None
        for piece in (piece for section in sections for piece in section.all()):
            written = list(self._written(piece))
            is_one_list = before and piece.kind in LISTED and before.kind == piece.kind
            if lines and not is_one_list:
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
        if not before.ends_in_list or not _INDENTED.match(self.source.lines[piece.first - 1]):
            return False
        between = self.source.lines[before.last : piece.first - 1]
        follows = before.last < piece.first and not any(line.strip() for line in between)
        return piece.kind not in LISTED and not (follows and before.kind == "TEXT")
