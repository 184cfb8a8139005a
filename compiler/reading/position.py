"""Find the key path at a position in YAML, JSON or TOML that a person is writing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct

from compiler.reading.entries import entries
from compiler.reading.toml import keys_by_line
from compiler.text.regex import Regex
from compiler.text.source import KeyPath, Span


class Position(Struct, frozen=True):
    """The key or value at a position: its path, the word there, whether it is a key, and the keys beside it.

    The last part of the path of a key is the word, which may be "". With `is_inside`, the word is in quotes, or its
    key already has a value, so that only the word itself is missing.
    """

    path: KeyPath
    span: Span
    is_key: bool
    is_inside: bool
    beside: frozenset[str] = frozenset()


QUOTES = ("'", '"')
_WORD = Regex(r"[^\s:,\[\]{}\"'#=]*")
_BEFORE_KEY = Regex(r"[ \t]*(?:-[ \t]+)*[\"']?")


def position_in_yaml(lines: Sequence[str], first: int, line: int, column: int) -> Position | None:
    """Return the key or value at a position of YAML or JSON, whose lines count from `first`; None in other places.

    A word that could be the start of a key is read as one.
    """
    text = lines[line - first]
    start, end = _word(text, column - 1)
    before, word, after = text[:start], text[start:end], text[end:]
    changed = text
    if _BEFORE_KEY.fullmatch(before) and not after.strip():
        changed = f"{before}{word or 'x'}:"
    elif not word:
        changed = f"{before}x{after}"
    place = Span(line, start + 1, line, end + 1)
    indent = len(text) - len(text.lstrip())
    below = takewhile(lambda row: not row.strip() or row[:indent].isspace() or not indent, lines[line - first + 1 :])
    rows = [*lines[: line - first], changed, *below]  # nothing below the keys beside it matters
    found = entries("\n".join(rows), first)
    here = Span(line, start + 1, line, start + 1)
    for entry in reversed(found):
        if entry.key and entry.key.has(here):
            around = (one for one in found if one.key and one.path[:-1] == entry.path[:-1] and not one.key.has(here))
            beside = frozenset(one.path[-1] for one in around)
            return Position((*entry.path[:-1], word), place, True, _is_inside(text, start, end), beside)
        if entry.value and entry.value.has(here):
            span = entry.value if changed == text else place
            return Position(entry.path, span, is_key=False, is_inside=text[: span.column - 1][-1:] in QUOTES)
    return None


def _is_inside(text: str, start: int, end: int) -> bool:
    return text[:start][-1:] in QUOTES or text[end:].lstrip()[:1] in (":", "=")


def _word(text: str, at: int) -> tuple[int, int]:
    words = (found.span() for found in _WORD.finditer(text) if found.start() <= at <= found.end())
    return next((span for span in words if span[0] < span[1]), (at, at))


def position_in_toml(lines: Sequence[str], line: int, column: int) -> Position | None:
    """Return the key or value at a position of TOML, or the table of a header, or None in a comment."""
    text = lines[line - 1]
    start, end = _word(text, column - 1)
    place = Span(line, start + 1, line, end + 1)
    if text.lstrip()[:1] == "#":
        return None
    if text.lstrip()[:1] == "[":
        return Position((text[start:end],), place, is_key=True, is_inside=True)
    known = list(keys_by_line(lines))
    section = next((inside for number, _, inside in reversed(known) if number <= line), ())
    own = next((path for number, path, _ in known if number == line), (*section, text[start:end]))
    if "=" in text[:start]:
        return Position(own, place, is_key=False, is_inside=text[:start][-1:] in QUOTES)
    beside = (path[len(section)] for number, path, inside in known if inside == section != path and number != line)
    path = (*section, text[start:end])
    return Position(path, place, True, _is_inside(text, start, end), frozenset(beside))
