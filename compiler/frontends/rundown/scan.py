"""Scan a source into frontmatter and blocks, which are the same in both layouts (V7)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.blocks import Block, read_blocks
from compiler.frontends.rundown.frontmatter import Frontmatter, read_frontmatter
from compiler.frontends.rundown.layout import mark_remarks
from compiler.frontends.rundown.options import PROSE
from compiler.frontends.rundown.outline import settle_outline
from compiler.frontends.rundown.prose import mark_prose
from compiler.issues import Place
from compiler.options import Options
from compiler.source import Source


class Scanned(Struct, frozen=True):
    """A document before parsing.

    `written` has all blocks, `blocks` marks prose sections in them, and `outline` has the blocks to parse.
    """

    source: Source
    frontmatter: Frontmatter
    written: list[Block]
    blocks: list[Block]
    outline: list[Block]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def options(self) -> Options:
        """The options in the document."""
        return self.frontmatter.options

    @property
    def begin(self) -> int:
        """The first line of the document after its frontmatter."""
        return self.frontmatter.next_line


def scan(source: Source, prose: Mapping[str, Place] = MappingProxyType({})) -> Scanned:
    """Return a document's frontmatter and blocks; `prose` applies if the document names no prose sections."""
    frontmatter, found = read_frontmatter(source)
    own = PROSE.first(frontmatter.options.values)
    written = list(read_blocks(source, frontmatter.next_line))
    blocks = mark_prose(written, prose if own is None else own)
    outline, problems = settle_outline(source, blocks)
    return Scanned(source, frontmatter, written, blocks, mark_remarks(source, outline), (*found, *problems))
