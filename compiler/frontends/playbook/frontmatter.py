"""Read a playbook's options under `rdc` and its scenarios; other frontmatter keys belong to other tools (P2)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from compiler.diagnostic import Diagnostic
from compiler.frontends.frontmatter import read_block
from compiler.frontends.playbook import FORMAT
from compiler.issues import Place, duplicate_options
from compiler.options import Known, Level, Options, read_options
from compiler.source import Source, Spans, below

if TYPE_CHECKING:
    from compiler.yaml_text import Reading


class Frontmatter(Struct, frozen=True):
    """The options, the next line of the document, and the unparsed scenarios with their places.

    `scenarios` is None if there are none.
    """

    options: Options
    next_line: int
    scenarios: object = None
    spans: Spans = MappingProxyType({})


def read_frontmatter(source: Source) -> tuple[Frontmatter, list[Diagnostic]]:
    """Return the frontmatter at the start of a source, or an empty one, with its problems."""
    read, next_line, found = read_block(source)
    if read is None:
        return Frontmatter(Options(), next_line), found
    options, found = _options(source, read)
    found += duplicate_options(source, (key for key in read.repeated if key.path[0] in {"rdc", "scenarios"}))
    if "scenarios" not in read.values:
        return Frontmatter(options, next_line), found
    return Frontmatter(options, next_line, read.as_written["scenarios"], below(read.spans, "scenarios")), found


def _options(source: Source, read: Reading) -> tuple[Options, list[Diagnostic]]:
    if "rdc" not in read.values:
        return Options(), []
    place = Place("RD013", source.path, read.spans["rdc",])
    known = Known(FORMAT.options, Level.DOCUMENT)
    return read_options(read.values["rdc"], place, below(read.spans, "rdc"), known)
