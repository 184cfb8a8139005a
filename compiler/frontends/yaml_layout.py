"""Clean up the whitespace of a YAML document without changing its strings (`rdc fmt`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compiler.source import LINE_END, Source

if TYPE_CHECKING:
    from compiler.yaml_text import Reading

DEFECT = "the formatted document would not mean the same"


def in_order(source: Source, reading: Reading) -> str:
    """Return the document with uniform line endings, no trailing whitespace and single blank lines."""
    ends = Counter(LINE_END.findall(source.text))
    end = max(("\n", "\r\n", "\r"), key=lambda one: ends[one])
    inside = reading.lines_in_texts
    return "".join(line + end for line in _ordered(source.lines, inside))


def _ordered(lines: tuple[str, ...], inside: frozenset[int]) -> Iterator[str]:
    """Yield the lines without trailing whitespace or repeated blank lines; multi-line strings stay unchanged.

    A blank line after a string may belong to it, so at least one is kept.
    """
    last = max((number for number, line in enumerate(lines, 1) if line.strip() or number in inside), default=0)
    blank = True
    for number, line in enumerate(lines[:last], 1):
        if number in inside:
            yield line
            blank = False
            continue
        stripped = line.rstrip(" \t")
        if stripped or not blank:
            yield stripped
        blank = not stripped
