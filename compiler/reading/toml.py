"""Read TOML, and find the places of its keys, which the standard library's reader doesn't provide."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from compiler.text.regex import Regex
from compiler.text.source import KeyPath, Source, Span

_NAME = r"""(?:[\w-]+|"[^"\\]*"|'[^']*')"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = Regex(rf"\s*(?:\[\s*(?P<table>{_NAMES})\s*\]|\[\[\s*(?P<item>{_NAMES})\s*\]\])\s*(?:#.*)?")
_CHAIN = Regex(rf"(?>{_NAME})(?>(?:[ \t]*\.[ \t]*{_NAME})*)")
_MOST_PARTS = 32
_BITS = 64
_KEY = Regex(rf"\s*({_NAMES})\s*=")


def find_keys(source: Source) -> dict[KeyPath, Span]:
    """Return the lines of headers and keys that a line's form reveals.

    A path that is found twice is left out, because one of the two must be inside a multi-line string. Keys within a
    one-line value are left out too; the caller can use the key around them.
    """
    spans: dict[KeyPath, Span] = {}
    found: Counter[KeyPath] = Counter()
    for number, path, _ in keys_by_line(source.lines):
        found[path] += 1
        spans[path] = source.line_span(number)
    return {path: span for path, span in spans.items() if found[path] == 1}


def keys_by_line(lines: Sequence[str]) -> Iterator[tuple[int, KeyPath, KeyPath]]:
    """Yield the number and the path of each line with a header or key, and the path of the table that it is in."""
    items: Counter[KeyPath] = Counter()
    section: KeyPath = ()
    for number, line in enumerate(lines, 1):
        if header := _HEADER.fullmatch(line):
            section = _path(header["table"] or header["item"])
            if header["item"]:
                items[section] += 1
                section = (*section, str(items[section] - 1))
            yield number, section, section
        elif key := _KEY.match(line):
            yield number, (*section, *_path(key[1])), section


def load_toml(text: str) -> dict[str, Any]:
    """Return the plain value of a text; raise ValueError or RecursionError.

    Keys of very many parts are refused, because the reader's time grows with their square, and so are whole numbers of
    more than 64 bits, which TOML forbids but the reader accepts.
    """
    import tomllib  # noqa: PLC0415 (most projects configure nothing)

    for found in _CHAIN.finditer(text):
        if found[0].count(".") > _MOST_PARTS and len(_path(found[0])) > _MOST_PARTS:
            raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    table = tomllib.loads(text)
    pending: list[object] = [table]
    while pending:
        item = pending.pop()
        if isinstance(item, int) and item.bit_length() >= _BITS:
            raise ValueError(f"a whole number has more than {_BITS} bits")
        pending += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    return table


def _path(names: str) -> KeyPath:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, names))
