"""Split Markdown into the tokens of `grammars/rundown.lark`: headers, bodies, transitions and text.

pulldown-cmark finds the CommonMark blocks and their places (D2). Their content is read from the source lines. Only
top-level blocks count, so nothing inside a quote or a code block becomes a header or a transition.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import pyromark
from lark import Lark
from msgspec import Struct

from compiler.frontends.rundown.parse.lines import Header, LineError, parse_header, parse_transition
from compiler.frontends.rundown.syntax import Transition
from compiler.reading.grammar import Patterns, load, patterns_of
from compiler.text.regex import Regex
from compiler.text.source import Source, Span


class Block(Struct, frozen=True):
    """One token of the block grammar.

    `type` is a terminal of the grammar, or HEADING for any other heading. `text` is the text of the heading or item, or
    the code. `info` is a code block's info string, a heading's marker, or "list" or "paragraph" for text. The block
    spans `line` to `end_line` (inclusive, counted from 1), and its text starts at `column`. `mark` is the fence of a
    code block. `closed` is false if a code block or comment runs to the end of the document. `parsed` is what a step's
    header or a transition says, or its error.
    """

    type: str
    line: int
    end_line: int
    column: int
    text: str = ""
    info: str = ""
    mark: str = ""
    closed: bool = True
    parsed: Header | Transition | LineError | None = None

    @property
    def span(self) -> Span:
        """The place of the first line of the block's text."""
        width = len(self.text.split("\n", 1)[0]) if self.type != "CODE" else 3
        return Span(self.line, self.column, self.line, self.column + (width or 1))


HEADER = Regex(r" {0,3}(#{1,6})(?:[ \t]+|$)")
"""Matches the marks before a heading's text, unless it is underlined."""

FENCE = Regex(r"^( {0,3})(`{3,}|~{3,})(.*)")

BULLET = Regex(r" {0,3}[-+*]")

UNPAIRED = Regex(r"[\ud800-\udfff]")

VERBATIM = Regex(r"<(/?)(?:script|style|textarea)(?=[\s>])", re.IGNORECASE)

AT_END = Regex(r"(?<![ \t])[ \t]++$", re.MULTILINE)

NOT_TEXT = frozenset({"Bullets", "List", "BlockQuote", "Fenced", "CodeBlock", "Heading", "HtmlBlock"})
"""Markdown blocks that can start a list item instead of a paragraph or rule, by pulldown-cmark's names."""

HEADINGS = {"#": "TITLE", "##": "STEP", "###": "SUBSTEP"}
"""The terminals of runbook headings by their marks."""

INFOS = {"List": "list", "Paragraph": "paragraph"}


Found = tuple[str, int, int, int]
"""A top-level Markdown block or an item of a top-level bullet list.

The fields are pulldown-cmark's name of its kind, its start and end in UTF-8 bytes, and the start of the item's first
paragraph or -1. It is a plain tuple because a document has tens of thousands.
"""


def grammar() -> Lark:
    """Return the grammar of blocks, for both layouts (V7) and for single list items."""
    return load("rundown", "runbook", "runbook_after_header", "item")


@cache
def patterns() -> Patterns:
    """Return the patterns of the blocks that Markdown doesn't distinguish."""
    return patterns_of(grammar())


def read_blocks(source: Source, first_line: int) -> Iterator[Block]:
    """Yield the blocks of a source from `first_line` on; the lines above it are frontmatter."""
    lines = [line.replace("\0", "\ufffd") for line in source.lines] if "\0" in source.text else source.lines
    text = _normalized("\n".join(lines[first_line - 1 :]))
    data = text.encode()
    ends = list(accumulate(map(len, (data + b"\n").splitlines(keepends=True))))
    at = 0
    for kind, start, end, inner in _found(text):
        while ends[at] <= start:
            at += 1
        line = last = at + first_line
        begun = ends[at]
        if end > begun:
            while ends[at] < end:
                at += 1
            last = at + first_line - data[ends[at - 1] : end].isspace()  # the indentation of the next block
        if kind == "Fenced":
            yield _fence(lines, line, last)
            continue
        while last > line and not lines[last - 1].strip():
            last -= 1
        if kind == "Item":
            inner_line = line if inner < begun else bisect_right(ends, inner) + first_line
            yield _item(lines, line, last, inner_line if inner >= 0 else 0)
        elif kind == "Heading":
            yield _heading(lines, line, last)
        elif block := _text(lines, line, last, kind):
            yield block


def _normalized(text: str) -> str:
    """Return text with the same blocks, without the cases that pulldown-cmark reads differently from CommonMark."""
    # A form feed counts as more than a space, tabs may follow a closing fence, and any of four HTML tags closes
    # another. Unpaired surrogates are not valid input at all. Only the number of lines stays the same, so report places
    # in lines.
    if not text.isascii():
        text = UNPAIRED.sub("\ufffd", text)
    if "\t" in text:
        text = AT_END.sub("", text)
    return VERBATIM.sub(r"<\1pre", text.replace("\v", "\x1f").replace("\f", "\x1f"))


def _found(text: str) -> Iterator[Found]:
    depth, kind, inner = 0, "", -1
    awaits_first = False  # whether the next event is the start of the item's content
    events: Iterable[tuple[Any, Any]] = pyromark.events_with_range(text)
    for event, where in events:
        if "Start" in event:  # an event is a dictionary with one name, or only a name
            if awaits_first:
                inner = -1 if _name(event["Start"]) in NOT_TEXT else where["start"]
                awaits_first = False
            elif depth == 0:
                kind = _name(event["Start"])
            elif depth == 1:
                awaits_first = kind == "Bullets"
            depth += 1
        elif "End" in event:
            depth -= 1
            if depth == 1 and kind == "Bullets":
                yield "Item", where["start"], where["end"], -1 if awaits_first else inner
                awaits_first = False
            elif depth == 0 and kind != "Bullets":
                yield kind, where["start"], where["end"], -1
        elif awaits_first:
            inner = -1 if event == "Rule" else where["start"]
            awaits_first = False


def _name(tag: str | Mapping[str, Any]) -> str:
    if isinstance(tag, str):
        return tag
    [(name, about)] = tag.items()
    if name == "List" and about is None:
        return "Bullets"
    return "Fenced" if name == "CodeBlock" and isinstance(about, dict) else name


def _column(lines: Sequence[str], line: int, text: str) -> int:
    """Return the column where text starts in its line, or 1 if expanded tabs hide it."""
    return lines[line - 1].find(text) + 1 or 1


def _text(lines: Sequence[str], line: int, end_line: int, kind: str) -> Block | None:
    """Return a text block, or None for a comment, which may appear anywhere."""
    closed = True
    if kind == "HtmlBlock":
        content = "\n".join(lines[line - 1 : end_line])
        if patterns()["COMMENT"].fullmatch(content):
            return None
        closed = not content.lstrip().startswith("<!--") or "-->" in content
    text = lines[line - 1].strip()
    return Block("TEXT", line, end_line, _column(lines, line, text), text, INFOS.get(kind, ""), "", closed)


def _heading(lines: Sequence[str], line: int, end_line: int) -> Block:
    first = lines[line - 1]
    opened = HEADER.match(first)
    if opened:
        mark, text = opened[1], first[opened.end() :].strip()
        if text.endswith("#"):
            text = _without_marks(first[opened.end() :])
        kind = HEADINGS.get(mark, "HEADING")
        parsed = parse_header(text, "step" if kind == "STEP" else "substep") if len(mark) in {2, 3} else None
        return Block(kind, line, end_line, first.find(text) + 1, text, mark, parsed=parsed)
    mark = lines[end_line - 1].strip()[0]
    text = "\n".join(lines[line - 1 : end_line - 1]).strip()
    first = text.split("\n", 1)[0]
    line = next(
        (number for number in range(line, end_line + 1) if first in lines[number - 1]), line
    )  # below a form feed
    return Block("TITLE" if mark == "=" else "HEADING", line, end_line, _column(lines, line, first), text, mark)


def _without_marks(content: str) -> str:
    content = content.rstrip(" \t")
    text = content.rstrip("#")
    return (text if not text or text[-1] in " \t" else content).strip()


def _fence(lines: Sequence[str], start: int, end: int) -> Block:
    [(indent, mark, info)] = FENCE.findall(lines[start - 1])
    closed = end > start and (lines[end - 1] == mark or _closes(lines[end - 1], mark))
    inner = lines[start : end - closed]
    if indent:
        inner = [_outdented(line, len(indent)) for line in inner]
    code = "\n".join(inner) + ("\n" if inner and (closed or end < len(lines)) else "")
    return Block("CODE", start, end, len(indent) + 1, code, info.strip(), mark, closed)


def _closes(line: str, mark: str) -> bool:
    closing = FENCE.match(line)
    return closing is not None and closing[2].startswith(mark) and not closing[3].strip(" \t")


def _outdented(line: str, width: int) -> str:
    """Return a line without the fence's indentation; the rest of a split tab becomes spaces."""
    column = index = 0
    while column < width and line[index : index + 1] in (" ", "\t"):
        column += 1 if line[index] == " " else 4 - column % 4
        index += 1
    return " " * (column - width) + line[index:]


def _item(lines: Sequence[str], line: int, end_line: int, inner: int) -> Block:
    """Classify one list item whose first paragraph starts on line `inner`, or 0: a list may mix kinds (G2)."""
    transition, written = patterns()["TRANSITION"], lines[line - 1]
    if inner == line and written.startswith(("- ", "* ", "+ ")) and transition.match(written, 2):
        return _transition(line, end_line, 3, written[2:].rstrip())
    first, text_line = "", line
    for number in range(inner, end_line + 1) if inner else ():
        content = lines[number - 1]
        bullet = BULLET.match(content) if number == line else None
        first = (content[bullet.end() :] if bullet else content).strip()
        if first:
            text_line = number
            break
    column = _column(lines, text_line, first)
    if transition.fullmatch(first):
        return _transition(text_line, end_line, column, first)
    if text_line == end_line and patterns()["RUNBOOK"].fullmatch(first):
        return Block("RUNBOOK", text_line, end_line, column, first)
    if patterns()["LATER"].fullmatch(first):
        return Block("LATER", text_line, end_line, column, first, "list")
    if text_line > line:  # the block starts at the bullet
        first = lines[line - 1].strip()
        column = _column(lines, line, first)
    return Block("TEXT", line, end_line, column, first, "list")


def _transition(line: int, end_line: int, column: int, text: str) -> Block:
    return Block("TRANSITION", line, end_line, column, text, parsed=parse_transition(text, line, column))
