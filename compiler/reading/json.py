"""Read JSON with the places of its parts, and explain invalid JSON (RFC 8259)."""

import json
from collections.abc import Container
from typing import NamedTuple

from msgspec import Struct, field

from compiler.text.regex import Regex
from compiler.text.source import KeyPath, Lines, Repeated, Span

LONGEST_NUMBER = 30  # the longest number in characters: Python is slow with long ones

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
        self.help = remedy
        self.position = position
        self.is_surplus = is_surplus


def load_json(text: str) -> object:
    """Return the plain value of a text; raise `BrokenJsonError`."""
    try:
        return json.loads(
            text, parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_NUMBER else float(digits)
        )
    except json.JSONDecodeError as error:
        raise _broken(text, error) from None
    except RecursionError:
        raise BrokenJsonError("lists and objects are nested too deeply", "look for a missing bracket", None) from None


def _broken(text: str, error: json.JSONDecodeError) -> BrokenJsonError:
    message, remedy = next((words for start, words in _MESSAGES.items() if error.msg.startswith(start)), _ESCAPE)
    position, here = error.pos, text[error.pos : error.pos + 2]
    before = _TRAILING_COMMA.search(text, max(0, position - 1000), position)
    comma = before.start() if before and here[:1] in ("]", "}") else None
    if error.msg.startswith("Illegal trailing comma"):  # which Python 3.13 knows
        comma = position
    if comma is not None:
        return BrokenJsonError("there is a comma before the closing bracket", "remove it", comma, is_surplus=True)
    if here in ("//", "/*") or here[:1] == "#":
        message, remedy = "JSON has no comments", "remove the comment; you can use titles and prompts instead"
    elif here[:1] == "'":
        message, remedy = "this string is in single quotes", "use double quotes"
    return BrokenJsonError(message, remedy, position)


DEPTH_KEPT = 4
"""The depth down to which all places are kept, enough for nodes and edges; deeper places are kept on request."""

_TOKEN = Regex(r'[ \t\r\n]*(?:(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<mark>[{}\[\],:])|(?P<plain>[^\s{}\[\],:"]+))')
_COLON = Regex(r"[ \t\r\n]*:")

_Range = tuple[int, int]
"""The characters of a part; the end is exclusive."""


class Layout(Struct):
    """The results of one pass over a text: places of values and keys, duplicate keys, depth and size."""

    values: dict[KeyPath, Span] = field(default_factory=dict)
    keys: dict[KeyPath, Span] = field(default_factory=dict)
    repeated: list[Repeated] = field(default_factory=list)
    depth: int = 0
    count: int = 0


class _Inside(NamedTuple):
    """An open collection: its path, its start, and the keys so far (None for a list)."""

    path: KeyPath
    start: int
    keys: dict[str, _Range] | None


def lay_out(text: str, wanted: Container[KeyPath] = (), deepest: int = DEPTH_KEPT) -> Layout:
    """Return the places of the parts of a JSON text, down to a depth and for the wanted paths.

    It doesn't recurse, and text that is not JSON only results in wrong places.
    """
    return _Pass(Lines(text), wanted, deepest).over(text)


class _Pass:
    def __init__(self, lines: Lines, wanted: Container[KeyPath], deepest: int) -> None:
        self._found = Layout()
        self._lines = lines
        self._wanted = wanted
        self._deepest = deepest

    def over(self, text: str) -> Layout:
        pending: list[_Inside] = []
        path: KeyPath = ()
        numbers: list[int] = []
        for token in _TOKEN.finditer(text):
            name = token.lastgroup or "plain"
            sign, place = token[name], token.span(name)
            if sign in "{[":
                pending.append(_Inside(path, place[0], {} if sign == "{" else None))
                numbers.append(0)
                path = (*path, "0") if sign == "[" else path
                self._found.depth, self._found.count = max(self._found.depth, len(pending)), self._found.count + 1
            elif sign in "}]" and pending:
                path, start, _ = pending.pop()
                numbers.pop()
                self._keep(self._found.values, path, (start, place[1]))
            elif sign == "," and pending and pending[-1].keys is None:
                numbers[-1] += 1
                path = (*pending[-1].path, str(numbers[-1]))
            elif sign in ",:":
                continue
            elif pending and (keys := pending[-1].keys) is not None and _COLON.match(text, place[1]):
                path = (*pending[-1].path, json.loads(sign, strict=False) if "\\" in sign else sign[1:-1])
                self._key(path, keys, place)
            else:
                self._found.count += 1
                self._keep(self._found.values, path, place)
        return self._found

    def _key(self, path: KeyPath, keys: dict[str, _Range], place: _Range) -> None:
        if first := keys.get(path[-1]):
            self._found.repeated.append(Repeated(path, self._lines.span(*place), self._lines.span(*first)))
        keys[path[-1]] = place
        self._keep(self._found.keys, path, place)

    def _keep(self, places: dict[KeyPath, Span], path: KeyPath, place: _Range) -> None:
        if len(path) <= self._deepest or path in self._wanted:
            places[path] = self._lines.span(*place)
