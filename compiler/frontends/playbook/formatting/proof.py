"""Prove that formatting changes nothing that matters: the syntax tree and the other text are the same."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compiler.frontends.playbook.formatting.numbering import Numbering
from compiler.frontends.playbook.lines import texts
from compiler.frontends.playbook.reading import Read, read
from compiler.source import Source

_PLACES = {"span", "system_span", "content_line", "lines"}


def same_meaning(source: Source, before: Read, result: Source, numbering: Numbering) -> bool:
    """Return whether the result reads as the same document with new numbers."""
    after = read(result)
    if before.parsed is None or after.parsed is None or after.errors:
        return False
    same_tree = _plain(numbering.playbook) == _plain(after.parsed.playbook)
    same_options = repr(before.frontmatter.scenarios) == repr(after.frontmatter.scenarios)
    return same_tree and same_options and list(_text(source, before)) == list(_text(result, after))


def _plain(value: object) -> object:
    """Return a tree as tuples, without places."""
    if isinstance(value, Struct):
        return tuple(_plain(getattr(value, name)) for name in value.__struct_fields__ if name not in _PLACES)
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _text(source: Source, made: Read) -> Iterator[str]:
    """Yield the lines of text that are not blank."""
    for number in texts(made.parsed.scanned.lines if made.parsed else ()):
        if line := source.lines[number - 1].rstrip():
            yield line
