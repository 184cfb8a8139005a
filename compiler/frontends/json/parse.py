"""From a JSON text to a plain value; what is no JSON is worded for people (RFC 8259)."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.json.syntax import Layout, Places, lay_out
from compiler.source import Source

DEEPEST = 32
"""Collections in collections. No program needs as many, and Python reads them by recursion."""

MOST_VALUES = 500_000
"""In a text: each takes many times more memory than its characters."""

LONGEST_NUMBER = 30
"""In characters: Python takes its time for long ones."""

_MESSAGES = {
    "Expecting value": ("a value is missing here", "write a text, a number, true, false, null, a list or an object"),
    "Expecting property name enclosed in double quotes": (
        "a key in double quotes is missing here",
        'write keys in double quotes, such as "id"',
    ),
    "Expecting ':' delimiter": ("there is no colon after the key", 'write "key": value'),
    "Expecting ',' delimiter": (
        "there is no comma between two values, or a bracket is not closed",
        "write a comma between values, and close each bracket",
    ),
    "Extra data": ("there is more text after the end of the program", "remove it: a file has one program"),
    "Unterminated string starting at": ("this text is not closed", 'end it with a double quote; write \\" in it'),
    "Invalid control character at": (
        "a control character or line break stands in a text",
        "write \\n for a line break and \\t for a tab",
    ),
}
_ESCAPE = (
    "there is no such escape",
    'write \\\\ for a backslash; the escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
)
_TRAILING_COMMA = re.compile(r",\s*$")


MOST_SHOWN = 100
"""Keys that stand twice in one file."""


class Parsed(NamedTuple):
    """The plain value of a text and its layout, or what is wrong; the value is no program yet."""

    value: object
    layout: Layout
    diagnostics: tuple[Diagnostic, ...]


def parse(source: Source, places: Places) -> Parsed:
    """The value of a text. It is a value only if there are no diagnostics."""
    try:
        value = json.loads(source.text, parse_int=_integer)
    except json.JSONDecodeError as error:
        return Parsed(None, Layout(), (_no_json(source, places, error),))
    except RecursionError:
        return Parsed(None, Layout(), (_too_deep(source),))
    layout = lay_out(source.text)
    if layout.depth > DEEPEST:
        return Parsed(None, layout, (_too_deep(source),))
    if layout.count > MOST_VALUES:
        problem = f"the file has {layout.count:,} values; the limit is {MOST_VALUES:,}"
        return Parsed(None, layout, (Diagnostic("RD061", source.path, None, problem, "make several programs of it"),))
    return Parsed(value, layout, tuple(_repeated(source, places, layout)))


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= LONGEST_NUMBER else float(digits)


def _too_deep(source: Source) -> Diagnostic:
    problem = f"lists and objects are nested more than {DEEPEST} deep"
    return Diagnostic("RD061", source.path, None, problem, "no part of a program is as deep; look for lost brackets")


def _no_json(source: Source, places: Places, error: json.JSONDecodeError) -> Diagnostic:
    message, remedy = next((said for start, said in _MESSAGES.items() if error.msg.startswith(start)), _ESCAPE)
    position, here = error.pos, source.text[error.pos : error.pos + 2]
    before = _TRAILING_COMMA.search(source.text, max(0, position - 1000), position)
    if not source.text.strip():
        message, remedy = "the file is empty", "write a program; docs/formats/json.md has examples"
    elif here[:1] in ("]", "}") and before:
        message, remedy, position = "a comma stands before the closing bracket", "remove it", before.start()
    elif here in ("//", "/*") or here[:1] == "#":
        message, remedy = "JSON has no comments", "remove it; titles and prompts can say what is meant"
    elif here[:1] == "'":
        message, remedy = "a text stands in single quotes", "write double quotes"
    return Diagnostic("RD060", source.path, places.at(position), message, remedy)


def _repeated(source: Source, places: Places, layout: Layout) -> list[Diagnostic]:
    return [
        Diagnostic(
            "RD062",
            source.path,
            places.span(item.again),
            f"the key `{item.path[-1]}` stands twice in one object",
            "remove one of them: readers of JSON disagree which one counts",
            (Related(source.path, places.span(item.first), "it stands here first"),),
        )
        for item in layout.repeated[:MOST_SHOWN]
    ]
