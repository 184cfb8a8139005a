"""Scan a playbook into lines of known kinds and runs of text between them.

The patterns are the terminals of `grammars/playbook.lark`. The section of a line decides which patterns apply, and
section headings can be anywhere. The scan takes one pass without looking back.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import get_args

from lark import Lark
from msgspec import Struct

from compiler.frontends.playbook.syntax import Elicit, Input, InputType, Output, PromptRef, Question, ToolCall
from compiler.reading.grammar import Patterns, load, patterns_of
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

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
    """The lines of a document below its frontmatter; `odd` are lines of text that look like another kind."""

    lines: list[Line]
    odd: list[Line]


def grammar() -> Lark:
    """Return the grammar of lines."""
    return load("playbook", "playbook")


@cache
def patterns() -> Patterns:
    """Return the patterns of lines by kind."""
    return patterns_of(grammar())


class Scanner:
    """Scan a document whose frontmatter ends above line `begin`."""

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


QUESTIONS: dict[str, Question] = {kind: kind for kind in get_args(Question)}

TYPES: dict[str, InputType] = {
    **dict.fromkeys(("string",), "string"),
    **dict.fromkeys(("text",), "text"),
    **dict.fromkeys(("number", "num", "int", "float"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("enum", "select", "choice"), "enum"),
}
"""The names of input types in lowercase; any other name means string (P8)."""

_QUOTED = Regex(r'(?P<key>\b\w+:\s*)?"(?P<text>[^"]*)"')
_VARIABLE = Regex(r"\{\{(\w+)\}\}")


def quoted(text: str) -> tuple[str, ...]:
    """Return the strings in double quotes, except after a keyword such as `default:`."""
    return tuple(found["text"] for found in _QUOTED.finditer(text) if not found["key"])


def read_input(line: Line) -> Input:
    """Return an input of INPUTS; an empty default counts as none (P7)."""
    written, colon, value = line.get("type").partition(":")
    written, value = written.strip(), value.strip()
    kind = TYPES.get(written.lower(), "string")
    is_enum = kind == "enum"
    options = tuple(option for item in value.split(",") if (option := item.strip())) if is_enum else ()
    default = value if colon and value and not is_enum else None
    return Input(line.get("name"), kind, written, line.get("description"), default, options, line.span)


def read_output(line: Line) -> Output:
    """`@output(name: type, "option", extract:"field")`."""
    more = line.get("more")
    extracts = [
        found["text"] for found in _QUOTED.finditer(more) if (found["key"] or "").partition(":")[0] == "extract"
    ]
    return Output(line.get("name"), line.get("type"), quoted(more), extracts[-1] if extracts else "", line.span)


def read_elicit(line: Line) -> Elicit | None:
    """Return `@elicit(kind, "question", "option")`, or None for an unknown kind."""
    kind = QUESTIONS.get(line.get("kind").lower())
    if kind is None:
        return None
    question, *options = quoted(line.get("more")) or ("",)
    return Elicit(kind, question, tuple(options), line.span)


def read_prompt(line: Line) -> PromptRef:
    """`@prompt({{variable}})`, `@prompt(scheme:id)` or `@prompt(id)`."""
    written = line.get("reference")
    if variable := _VARIABLE.fullmatch(written):
        return PromptRef("variable", variable[1], line.span, written)
    scheme, colon, name = written.partition(":")
    if colon and "{{" not in scheme:
        return PromptRef(scheme.strip(), name.strip(), line.span, written)
    return PromptRef("library", written, line.span, written)


def read_tool(line: Line) -> ToolCall:
    """`@tool(connection, tool, {json})` (P13)."""
    return ToolCall(_name(line.get("connection")), _name(line.get("tool")), line.get("arguments"), line.span)


def _name(written: str) -> str:
    is_quoted = len(written) > 1 and written[0] == written[-1] == '"'
    return written[1:-1].strip() if is_quoted else written
