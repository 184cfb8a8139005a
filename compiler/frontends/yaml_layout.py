"""White space of a YAML document put in order, with every text in it as it is (`rdc fmt`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compiler.source import LINE_END, Source

if TYPE_CHECKING:
    from compiler.yaml_text import Reading

DEFECT = "its normal form would not mean the same"


def in_order(source: Source, reading: Reading) -> str:
    """The text of a document with its line ends, the white space at ends of lines, and empty lines in order."""
    ends = Counter(LINE_END.findall(source.text))
    end = max(("\n", "\r\n", "\r"), key=lambda one: ends[one])
    inside = reading.lines_in_texts
    return "".join(line + end for line in _ordered(source.lines, inside))


def _ordered(lines: tuple[str, ...], inside: frozenset[int]) -> Iterator[str]:
    """The lines, without white space at their ends, and one empty line where several stand; texts are left alone.

    An empty line behind a text may belong to it, so there is one where there was one.
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
