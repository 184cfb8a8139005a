"""Scan a playbook into lines of known kinds and runs of text between them (P6).

The patterns are the terminals of `grammars/playbook.lark`. The section of a line decides which patterns apply, and
section headings can be anywhere. The scan takes one pass without looking back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from lark import Lark
from msgspec import Struct

from compiler.grammar import Patterns, load, patterns_of
from compiler.source import Source, Span

HEADINGS = ("STEP", "SYSTEM", "INPUTS", "ARTIFACTS", "SECTION")
"""The kinds of lines that start a section; the first match counts."""

DIRECTIVES = ("OUTPUT", "ELICIT", "PROMPT", "TOOL")
MARKERS = ("IF", "ELIF", "ELSE", "ENDIF")

_INSIDE: dict[str, dict[str, tuple[str, ...]]] = {
    "STEP": {"@": DIRECTIVES, "`": MARKERS, "#": ("SUBSTEP",)},
    "INPUTS": {"-": ("INPUT",), "*": ("INPUT",), "`": ("INPUT",), **dict.fromkeys("+0123456789", ("INPUT",))},
    "ARTIFACTS": {"t": ("TYPE",), "T": ("TYPE",)},
}
"""The kinds of lines in each section, by the first character."""


class Line(Struct, frozen=True):
    """A line of a known kind, or a run of text from `number` to `last`, for which `found` is None.

    `column` is the column of the first character that is not a space; the groups of `found` start there.
    """

    kind: str
    number: int
    last: int
    column: int = 1
    found: re.Match[str] | None = None

    @property
    def type(self) -> str:
        """Its terminal of the grammar."""
        return self.kind

    @property
    def span(self) -> Span:
        """The whole line without spaces at its ends."""
        end = len(self.found[0].rstrip()) if self.found else 0
        return Span(self.number, self.column, self.last, self.column + end)

    def within(self, group: str) -> Span:
        """Return the place of a group of the pattern."""
        if self.found is None or self.found.start(group) < 0:
            return Span(self.number, self.column, self.last, self.column)
        start, end = self.found.span(group)
        return Span(self.number, self.column + start, self.number, self.column + end)

    def get(self, group: str) -> str:
        """Return a group's text without spaces at its ends, or "" if it has none."""
        text = self.found[group] if self.found else None
        return text.strip() if text else ""


class Scanned(Struct, frozen=True):
    """The lines of a document below its frontmatter.

    `odd` are lines of text whose first character suggests another kind.
    """

    lines: list[Line]
    odd: list[Line]


def grammar() -> Lark:
    """Return the grammar of lines."""
    return load("playbook", "playbook")


@cache
def patterns() -> Patterns:
    """Return the patterns of lines by kind."""
    return patterns_of(grammar())


def scan(source: Source, begin: int) -> Scanned:
    """Return the lines of a document whose frontmatter ends above line `begin`."""
    return _Scanner(source, begin).scan()


class _Scanner:
    def __init__(self, source: Source, begin: int) -> None:
        self.lines = source.lines
        self.begin = begin
        self.found: list[Line] = []
        self.odd: list[Line] = []
        self.has_title = False

    def scan(self) -> Scanned:
        """Scan the lines in one pass; text between lines of other kinds becomes runs."""
        inside: dict[str, tuple[str, ...]] = {}
        is_head = True
        run = self.begin
        for number, text in enumerate(self.lines[self.begin - 1 :], self.begin):
            line = None
            if text[:1] == "#":
                line = self._heading(number, text, is_head=is_head)
                if line and line.kind != "TITLE":
                    inside, is_head = _INSIDE.get(line.kind, {}), False
            if line is None and inside:
                start = text.lstrip()
                kinds = inside.get(start[:1])
                line = self._inner(number, text, start, kinds) if kinds else None
            if line:
                self._text(run, number - 1)
                self.found.append(line)
                run = number + 1
        self._text(run, len(self.lines))
        return Scanned(self.found, self.odd)

    def _text(self, first: int, last: int) -> None:
        if first <= last:
            self.found.append(Line("TEXT", first, last))

    def _heading(self, number: int, text: str, *, is_head: bool) -> Line | None:
        if text[:2] == "##":
            return _line(HEADINGS, number, text, 1)
        if not is_head or self.has_title:
            return None
        line = _line(("TITLE",), number, text, 1)
        self.has_title = line is not None
        return line

    def _inner(self, number: int, text: str, start: str, kinds: Sequence[str]) -> Line | None:
        column = len(text) - len(start) + 1
        line = _line(kinds, number, start.rstrip(), column)
        if line is None:
            self.odd.append(Line("TEXT", number, number, column))
        return line


def _line(kinds: Sequence[str], number: int, text: str, column: int) -> Line | None:
    known = patterns()
    for kind in kinds:
        if found := known[kind].fullmatch(text):
            return Line(kind, number, number, column, found)
    return None


def texts(lines: Sequence[Line]) -> Iterator[int]:
    """Yield the numbers of all lines of text."""
    for line in lines:
        if line.kind == "TEXT":
            yield from range(line.number, line.last + 1)
