"""Read a playbook before lowering: its frontmatter, syntax tree and diagnostics."""

from __future__ import annotations

from msgspec import Struct

from compiler.diagnostic import Diagnostic, Severity, sort_key
from compiler.frontends.playbook.check import check, check_size
from compiler.frontends.playbook.frontmatter import Frontmatter, read_frontmatter
from compiler.frontends.playbook.parse import Parsed, parse
from compiler.options import Options
from compiler.source import Source


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
