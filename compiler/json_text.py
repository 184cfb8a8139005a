"""JSON as its author wrote it: the value of a text, where in it the parts stand, and what is no JSON (RFC 8259)."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Container, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from compiler.regex import Regex
from compiler.source import LINE_END, KeyPath, Span

LONGEST_NUMBER = 30
"""In characters: Python takes its time for long ones."""

_MESSAGES = {
    "Expecting value": ("a value is missing here", "write a string, a number, true, false, null, a list or an object"),
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
    "Unterminated string starting at": ("this string is not closed", 'end it with a double quote; write \\" in it'),
    "Invalid control character at": (
        "a control character or line break stands in a string",
        "write \\n for a line break and \\t for a tab",
    ),
}
_ESCAPE = (
    "there is no such escape",
    'write \\\\ for a backslash; the escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
)
_TRAILING_COMMA = Regex(r",\s*$")


class BrokenJsonError(ValueError):
    """The text is no JSON: what is wrong, what to do, and the character where it shows, None for the whole text.

    With `is_surplus` this one character is all that is wrong there.
    """

    def __init__(self, problem: str, remedy: str, position: int | None, *, is_surplus: bool = False) -> None:
        super().__init__(problem)
        self.remedy = remedy
        self.position = position
        self.is_surplus = is_surplus


def load_json(text: str) -> object:
    """The plain value of a text; raises `BrokenJsonError`."""
    try:
        return json.loads(text, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise _broken(text, error) from None
    except RecursionError:
        problem = "lists and objects are nested too deeply"
        raise BrokenJsonError(problem, "look for lost brackets", None) from None


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= LONGEST_NUMBER else float(digits)


def _broken(text: str, error: json.JSONDecodeError) -> BrokenJsonError:
    message, remedy = next((said for start, said in _MESSAGES.items() if error.msg.startswith(start)), _ESCAPE)
    position, here = error.pos, text[error.pos : error.pos + 2]
    before = _TRAILING_COMMA.search(text, max(0, position - 1000), position)
    if here[:1] in ("]", "}") and before:
        return BrokenJsonError(
            "a comma stands before the closing bracket", "remove it", before.start(), is_surplus=True
        )
    if here in ("//", "/*") or here[:1] == "#":
        message, remedy = "JSON has no comments", "remove it; titles and prompts can say what is meant"
    elif here[:1] == "'":
        message, remedy = "a string stands in single quotes", "write double quotes"
    return BrokenJsonError(message, remedy, position)


# --- Where the parts stand -------------------------------------------------------------------------------------------

DEPTH_KEPT = 4
"""The places of parts at this depth are always known: those of nodes and of their edges. Others are looked for."""

_TOKEN = Regex(r'[ \t\r\n]*(?:(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<mark>[{}\[\],:])|(?P<plain>[^\s{}\[\],:"]+))')
_COLON = Regex(r"[ \t\r\n]*:")


class Stretch(Struct, frozen=True):
    """From one character of a text to another, which is not part of it."""

    start: int
    end: int


class Repeated(NamedTuple):
    """A key that an object has twice: what leads to it, and both places."""

    path: KeyPath
    first: Stretch
    again: Stretch


class Everything:
    """What holds every path: for `lay_out`, where all places are wanted."""

    def __contains__(self, path: object) -> bool:
        """Whether a path is among those that are wanted."""
        return True


class Layout(Struct):
    """What one pass over a text finds: places of values and of their keys, keys that appear twice, depth and size."""

    values: dict[KeyPath, Stretch] = field(default_factory=dict)
    keys: dict[KeyPath, Stretch] = field(default_factory=dict)
    repeated: list[Repeated] = field(default_factory=list)
    depth: int = 0
    count: int = 0


class _Inside(NamedTuple):
    """A collection that a pass is in: what leads to it, where it begins, and the keys so far (None for a list)."""

    path: KeyPath
    start: int
    keys: dict[str, Stretch] | None


def lay_out(text: str, wanted: Container[KeyPath] = ()) -> Layout:
    """Where the parts of a text stand that is JSON: those to a certain depth, and those that are wanted.

    Nothing recurses, and a text that is no JSON leads to nothing but wrong places.
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


class Lines:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        ends = [end.span() for end in LINE_END.finditer(text)]
        self._starts = [0, *(after for _, after in ends)]
        self._ends = [*(before for before, _ in ends), len(text)]

    def span(self, place: Stretch) -> Span:
        """A stretch as lines and columns, to the end of its first line at most."""
        line = bisect_right(self._starts, place.start)
        begin = self._starts[line - 1]
        end = min(place.end, self._ends[line - 1])
        return Span(line, place.start - begin + 1, line, max(end, place.start) - begin + 1)
