"""Lay out the lines of the normal form, with one blank line around headings, markers and directives.

Blank lines within a step's content belong to it, so nothing changes between its first and last line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compiler.frontends.playbook.build import lines_of
from compiler.frontends.playbook.formatting.numbering import Numbering
from compiler.frontends.playbook.formatting.spelling import Spelling
from compiler.frontends.playbook.lines import Line
from compiler.grammar import Node
from compiler.source import Source

Chunk = list[str]
"""Lines without blank lines in between; blank lines separate chunks."""


def layout(source: Source, tree: Node, numbering: Numbering) -> list[str]:
    """Return all lines below the frontmatter."""
    layouter = _Layout(source, Spelling(source, numbering))
    return joined(chunk for part in tree.children for chunk in layouter.part(part))


def joined(chunks: Iterable[Chunk]) -> list[str]:
    """Return the lines of all chunks, separated by blank lines."""
    lines: list[str] = []
    for chunk in chunks:
        if chunk:
            lines += ["", *chunk] if lines else chunk
    return lines


def trimmed(lines: Sequence[str]) -> Chunk:
    """Return the lines without blank lines at both ends."""
    filled = [place for place, line in enumerate(lines) if line]
    return list(lines[filled[0] : filled[-1] + 1]) if filled else []


class _Layout:
    def __init__(self, source: Source, spelling: Spelling) -> None:
        self.source = source
        self.spell = spelling.line

    def part(self, part: Node | Line | None) -> Iterator[Chunk]:
        """Yield a section, or the lines above the first section."""
        if isinstance(part, Line):
            yield trimmed(list(self._lines([part])))
        elif isinstance(part, Node) and part.data == "step":
            yield from self._step(part)
        elif part:
            heading, *body = lines_of(part)
            yield [self.spell(heading)]
            yield trimmed(list(self._lines(body)))

    def _lines(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yield the new lines; text loses trailing spaces."""
        for line in lines:
            if line.kind == "TEXT":
                yield from (text.rstrip() for text in self.source.lines[line.number - 1 : line.last])
            else:
                yield self.spell(line)

    def _step(self, tree: Node) -> Iterator[Chunk]:
        """Yield a step; with text below the branches too, the blank lines around them belong to its content."""
        yield [self.spell(lines_of(tree)[0])]
        runs: list[list[Line]] = [[]]
        blocks: list[Node] = []
        for part in tree.children[1:]:
            if isinstance(part, Line):
                runs[-1].append(part)
            else:
                blocks.append(part)
                runs.append([])
        if not any(self._has_text(run) for run in runs[1:]):
            yield from self._own(runs[0])
            for block, below in zip(blocks, runs[1:], strict=True):
                yield from self._block(block)
                yield from self._own(below)
            return
        tight = list(self._lines(runs[0]))
        for block, below in zip(blocks, runs[1:], strict=True):
            tight += [*joined(self._block(block)), *self._lines(below)]
        yield trimmed(tight)

    def _has_text(self, lines: Iterable[Line]) -> bool:
        return any(line.kind == "TEXT" and any(map(str.strip, self._lines([line]))) for line in lines)

    def _block(self, block: Node) -> Iterator[Chunk]:
        for part in block.children:
            if not isinstance(part, Node):
                yield [self.spell(part)]
                continue
            marker, *own = lines_of(part)
            yield [self.spell(marker)]
            yield from self._own(own)
            for substep in (inner for inner in part.children if isinstance(inner, Node)):
                heading, *body = lines_of(substep)
                yield [self.spell(heading)]
                yield from self._own(body)

    def _own(self, lines: Sequence[Line]) -> Iterator[Chunk]:
        """Yield a step's directives and content in order: above, within and below the content."""
        first = next((place for place, line in enumerate(lines) if self._has_text([line])), None)
        if first is None:
            yield [self.spell(line) for line in lines if line.kind != "TEXT"]
            return
        last = max(place for place, line in enumerate(lines) if self._has_text([line]))
        yield [self.spell(line) for line in lines[:first] if line.kind != "TEXT"]
        yield trimmed(list(self._lines(lines[first : last + 1])))
        yield [self.spell(line) for line in lines[last + 1 :] if line.kind != "TEXT"]
