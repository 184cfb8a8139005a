"""Read a playbook before lowering: its frontmatter, syntax tree and diagnostics."""

from __future__ import annotations

from types import MappingProxyType

from msgspec import Struct

from compiler.diagnostic import Diagnostic, Severity, sort_key
from compiler.frontends.frontmatter import read_block
from compiler.frontends.playbook import FORMAT
from compiler.frontends.playbook.check import check, check_size
from compiler.frontends.playbook.parse import Parsed, parse
from compiler.issues import duplicate_options
from compiler.options import Options, document_options
from compiler.source import Source, Spans, below


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
    options, found = document_options(source, read.values, read.spans, FORMAT.options)
    found += duplicate_options(source, (key for key in read.repeated if key.path[0] in {"rdc", "scenarios"}))
    if "scenarios" not in read.values:
        return Frontmatter(options, next_line), found
    return Frontmatter(options, next_line, read.as_written["scenarios"], below(read.spans, "scenarios")), found


class Read(Struct, frozen=True):
    """A document that was read; `parsed` is None if it was too broken to parse."""

    parsed: Parsed | None
    frontmatter: Frontmatter
    found: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that stop compilation."""
        return tuple(item for item in self.found if item.severity is Severity.ERROR)


def read(source: Source) -> Read:
    """Return the document with all diagnostics in order."""
    found = list(check_size(source))
    if found:
        return Read(None, Frontmatter(Options(), 1), tuple(found))
    frontmatter, found = read_frontmatter(source)
    parsed = parse(source, frontmatter.next_line)
    found += [*parsed.diagnostics, *check(source, parsed)]
    return Read(parsed, frontmatter, tuple(sorted(found, key=sort_key)))
