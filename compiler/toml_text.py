"""Where the keys of a TOML text stand: the reader of the standard library does not tell."""

from __future__ import annotations

import re
from collections import Counter

from compiler.regex import Regex
from compiler.source import KeyPath, Source, Span

_NAME = r"""(?:[\w-]+|"[^"\\]*"|'[^']*')"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = Regex(rf"\s*(?:\[\s*(?P<table>{_NAMES})\s*\]|\[\[\s*(?P<item>{_NAMES})\s*\]\])\s*(?:#.*)?")
_BITS = 64
_KEY = Regex(rf"\s*({_NAMES})\s*=")


def find_keys(source: Source) -> dict[KeyPath, Span]:
    """The lines of headers and keys, as far as they can be told from the look of a line.

    What is found twice is left out: TOML has each key once, so one of the two stands in a text of several lines. So is
    what stands in a value of one line; it is for the caller to point at the key around it.
    """
    spans: dict[KeyPath, Span] = {}
    found: Counter[KeyPath] = Counter()
    items: Counter[KeyPath] = Counter()
    section: KeyPath = ()
    for number, line in enumerate(source.lines, 1):
        if header := _HEADER.fullmatch(line):
            path = section = _path(header["table"] or header["item"])
            if header["item"]:
                section = (*path, str(items[path]))
                items[path] += 1
                path = section
        elif key := _KEY.match(line):
            path = (*section, *_path(key[1]))
        else:
            continue
        found[path] += 1
        spans[path] = source.line_span(number)
    return {path: span for path, span in spans.items() if found[path] == 1}


def check_numbers(value: object) -> None:
    """Raises ValueError for a whole number of more than 64 bits: TOML has none, but the reader takes them."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, int) and item.bit_length() >= _BITS:
            raise ValueError(f"a whole number has more than {_BITS} bits")
        pending += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()


def _path(names: str) -> KeyPath:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, names))
