"""Read JSON with the places of its parts, and explain invalid JSON (RFC 8259)."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from compiler.regex import Regex
from compiler.source import KeyPath

LONGEST_NUMBER = 30
"""The longest number in characters: Python is slow with long ones."""

_MESSAGES = {
    "Expecting value": ("expected a value", "write a string, a number, true, false, null, a list or an object"),
    "Expecting property name enclosed in double quotes": (
        "expected a key in double quotes",
        'write keys in double quotes, for example "id"',
    ),
    "Expecting ':' delimiter": ("there is no colon after the key", 'write "key": value'),
    "Expecting ',' delimiter": (
        "expected a comma between two values, or a closing bracket",
        "add a comma between values, and close each bracket",
    ),
    "Extra data": ("there is more text after the end of the program", "remove it; a file has only one program"),
    "Unterminated string starting at": (
        "this string is not closed",
        'end it with a double quote; inside the string, write \\"',
    ),
    "Invalid control character at": (
        "this string contains a control character or line break",
        "write \\n for a line break and \\t for a tab",
    ),
}
_ESCAPE = (
    "there is no such escape",
    'write \\\\ for a backslash; the escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
)
_TRAILING_COMMA = Regex(r",\s*$")


class BrokenJsonError(ValueError):
    """The text is not JSON; `position` is the first wrong character, or None for the whole text.

    With `is_surplus`, only this one character is wrong.
    """

    def __init__(self, problem: str, remedy: str, position: int | None, *, is_surplus: bool = False) -> None:
        super().__init__(problem)
        self.remedy = remedy
        self.position = position
        self.is_surplus = is_surplus


def load_json(text: str) -> object:
    """Return the plain value of a text; raise `BrokenJsonError`."""
    try:
        return json.loads(text, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise _broken(text, error) from None
    except RecursionError:
        problem = "lists and objects are nested too deeply"
        raise BrokenJsonError(problem, "look for a missing bracket", None) from None


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= LONGEST_NUMBER else float(digits)


def _broken(text: str, error: json.JSONDecodeError) -> BrokenJsonError:
    message, remedy = next((said for start, said in _MESSAGES.items() if error.msg.startswith(start)), _ESCAPE)
    position, here = error.pos, text[error.pos : error.pos + 2]
    before = _TRAILING_COMMA.search(text, max(0, position - 1000), position)
    if here[:1] in ("]", "}") and before:
        return BrokenJsonError(
            "there is a comma before the closing bracket", "remove it", before.start(), is_surplus=True
        )
    if here in ("//", "/*") or here[:1] == "#":
        message, remedy = "JSON has no comments", "remove the comment; you can use titles and prompts instead"
    elif here[:1] == "'":
        message, remedy = "this string is in single quotes", "use double quotes"
    return BrokenJsonError(message, remedy, position)


# --- Places of parts -------------------------------------------------------------------------------------------------

DEPTH_KEPT = 4
"""The depth down to which all places are kept, enough for nodes and edges; deeper places are kept on request."""

_TOKEN = Regex(r'[ \t\r\n]*(?:(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<mark>[{}\[\],:])|(?P<plain>[^\s{}\[\],:"]+))')
_COLON = Regex(r"[ \t\r\n]*:")


class Stretch(Struct, frozen=True):
    """A range of characters in a text; the end is exclusive."""

    start: int
    end: int


class Repeated(NamedTuple):
    """A duplicate key of an object, with its path and both places."""

    path: KeyPath
    first: Stretch
    again: Stretch


class Everything:
    """A container of every path, for a `lay_out` with all places."""

    def __contains__(self, path: object) -> bool:
        """Return True."""
        return True


class Layout(Struct):
    """The results of one pass over a text: places of values and keys, duplicate keys, depth and size."""

    values: dict[KeyPath, Stretch] = field(default_factory=dict)
    keys: dict[KeyPath, Stretch] = field(default_factory=dict)
    repeated: list[Repeated] = field(default_factory=list)
    depth: int = 0
    count: int = 0


class _Inside(NamedTuple):
    """An open collection: its path, its start, and the keys so far (None for a list)."""

    path: KeyPath
    start: int
    keys: dict[str, Stretch] | None


def lay_out(text: str, wanted: Container[KeyPath] = ()) -> Layout:
    """Return the places of the parts of a JSON text, down to a fixed depth and for the wanted paths.

    It doesn't recurse, and text that is not JSON only results in wrong places.
    """
    found = Layout()
    pending: list[_Inside] = []
    path: KeyPath = ()
    number = 0
    numbers: list[int] = []
    for sign, place in _tokens(text):
        if sign in "{[":
            pending.append(_Inside(path, place.start, {} if sign == "{" else None))
            numbers.append(number)
            number = 0
            path = (*path, "0") if sign == "[" else path
            found.depth, found.count = max(found.depth, len(pending)), found.count + 1
        elif sign in "}]" and pending:
            path, start, _ = pending.pop()
            number = numbers.pop()
            _keep(found, path, Stretch(start, place.end), wanted)
        elif sign == "," and pending and pending[-1].keys is None:
            number += 1
            path = (*pending[-1].path, str(number))
        elif sign in ",:":
            continue
        elif pending and pending[-1].keys is not None and _is_key(text, place):
            path = _key(found, pending[-1], sign, place, wanted)
        else:
            found.count += 1
            _keep(found, path, place, wanted)
    return found


def _is_key(text: str, place: Stretch) -> bool:
    return _COLON.match(text, place.end) is not None


def _key(found: Layout, inside: _Inside, token: str, place: Stretch, wanted: Container[KeyPath]) -> KeyPath:
    name = json.loads(token, strict=False) if "\\" in token else token[1:-1]
    path = (*inside.path, name)
    keys = inside.keys if inside.keys is not None else {}
    if first := keys.get(name):
        found.repeated.append(Repeated(path, first, place))
    keys[name] = place
    if len(path) <= DEPTH_KEPT or path in wanted:
        found.keys[path] = place
    return path


def _keep(found: Layout, path: KeyPath, place: Stretch, wanted: Container[KeyPath]) -> None:
    if len(path) <= DEPTH_KEPT or path in wanted:
        found.values[path] = place


def _tokens(text: str) -> Iterator[tuple[str, Stretch]]:
    for token in _TOKEN.finditer(text):
        name = token.lastgroup or "plain"
        yield token[name], Stretch(*token.span(name))
