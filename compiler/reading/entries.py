"""Find the keys and values of YAML and JSON text with their exact places, also in text that is half written.

Lines are read by their indentation, without a parser of YAML: a missing bracket is added, and a quote that is not
closed ends with its line. Nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec import Struct

from compiler.reading.json import BrokenJsonError, load_json
from compiler.text.regex import Regex
from compiler.text.source import KeyPath, Lines, Span


class Entry(Struct, frozen=True, gc=False):
    """A key with its value, or an item of a list.

    `key` is the place of the key without quotes, or None for an item. `value` is the place of a value on one line
    without quotes, or of the first line of a plain one, or None for others. `inside` is the place of the whole value,
    which may be empty. `is_text` is true if the value is a string or a number.
    """

    path: KeyPath
    key: Span | None
    value: Span | None
    inside: Span
    is_text: bool = False

    @property
    def whole(self) -> Span:
        """The place of the key and its value."""
        start = self.key or self.inside
        return Span(start.line, start.column, self.inside.end_line, self.inside.end_column)


Range = tuple[int, int]
"""The characters of a part; the end is exclusive."""

QUOTES = ("'", '"')
DEEPEST = 200  # the deepest nesting that is read; documents are never this deep


class Found(Struct):
    """An entry as characters of the text: its path, its key, its value, and whether that is a string or number."""

    path: KeyPath
    key: Range | None
    start: int
    end: int
    is_text: bool = False


def placed(text: str, lines: Lines, found: Iterable[Found]) -> tuple[Entry, ...]:
    """Return the entries in the order of the text."""

    def plain(start: int, end: int) -> Span | None:
        part = text[start:end]
        if not part or part[0] in "&*!|>" or ("\n" in part and part[0] in QUOTES):
            return None
        end = start + len(part.partition("\n")[0].rstrip())
        is_quoted = len(part) > 1 and part[0] == part[-1] and part[0] in QUOTES
        return lines.range(start + is_quoted, end - is_quoted)

    def entry(one: Found) -> Entry:
        end = one.end
        while end > one.start and text[end - 1].isspace():
            end -= 1
        key, is_text = one.key and plain(*one.key), one.is_text and end > one.start
        return Entry(one.path, key, plain(one.start, end) if is_text else None, lines.range(one.start, end), is_text)

    return tuple(map(entry, sorted(found, key=lambda one: ((one.key or (one.start,))[0], len(one.path)))))


_FLOW = Regex(
    r"""(?:"[^"\\\n]*+(?>(?:\\.[^"\\\n]*+)*)"|'[^'\n]*+(?>(?:''[^'\n]*+)*)')|[{}\[\],]|(?P<comment>(?<!\S)\#[^\n]*+)|"""
    r""":(?![^\s,\[\]{}"'])|(?:["'][^\n]*+|(?:[^\s{}\[\],:"']|:(?![\s,\[\]{}"']))"""
    r"""(?>(?:[^{}\[\],:\s]|:(?![\s,\[\]{}])|[ \t]++(?=[^\s\#{}\[\],:]))*))"""
)
"""Matches a token of JSON, or of YAML in brackets."""


class _Open(Struct):
    """An open bracket with its own key; `key` is the key inside that waits for a value, and a list counts its items."""

    path: KeyPath
    own: Range | None
    start: int
    is_list: bool
    indent: int = -1
    key: Range | None = None
    count: int = 0


class _Flow:
    """Read a value in brackets. A bracket that is missing is added where another one or a key makes no sense inside.

    With `is_broken`, it is also added above a line that is indented like the line of the opening one.
    """

    def __init__(self, text: str, *, is_broken: bool = False) -> None:
        self._text = text
        self._is_broken = is_broken
        self._indent = 0  # of the current line
        self.found: list[Found] = []
        self._open: list[_Open] = []

    def read(self, path: KeyPath, own: Range | None, start: int, limit: int) -> int:
        """Read the value from `start` on, and return its end, which is not behind `limit`."""
        before = start
        for token in _FLOW.finditer(self._text, start, limit):
            sign, line = token[0], self._text.rfind("\n", before, token.start()) + 1
            before = token.end()
            if line:
                self._outdent(line, token.start() - line, is_end=sign in ("}", "]"))
            if not self._open:
                self._open.append(_Open(path, own, start, sign == "["))
            elif token.lastgroup != "comment":
                self._token(sign, *token.span())
            if not self._open:
                return token.end()
            if len(self._open) > DEEPEST:
                break
        while self._open:
            self._close(limit)
        return limit

    def _token(self, sign: str, start: int, end: int) -> None:
        if sign == ",":
            self._next(start)
        elif sign in ("{", "["):
            self._enter(start, is_list=sign == "[")
        elif sign in ("}", "]"):
            self._leave(end, is_list=sign == "]")
        elif sign == ":":
            self._colon()
        else:
            self._word((start, start + len(sign.rstrip())))

    def _outdent(self, line: int, indent: int, *, is_end: bool) -> None:
        self._indent = indent
        while self._is_broken and len(self._open) > 1 and indent < self._open[-1].indent + (not is_end):
            self._close(line)

    def _at(self, top: _Open) -> KeyPath:
        if top.is_list:
            return (*top.path, str(top.count))
        return (*top.path, unquoted(self._text[slice(*top.key)])) if top.key else top.path

    def _enter(self, start: int, *, is_list: bool) -> None:
        while self._open[-1].key is None and not self._open[-1].is_list and any(one.is_list for one in self._open):
            self._close(start)
            self._next(start)
        top = self._open[-1]
        self._open.append(_Open(self._at(top), top.key, start, is_list, self._indent))
        top.key = None

    def _leave(self, end: int, *, is_list: bool) -> None:
        if any(one.is_list == is_list for one in self._open):
            while self._open[-1].is_list != is_list:
                self._close(end)
            self._close(end)

    def _close(self, end: int) -> None:
        self._next(end)
        top = self._open.pop()
        if self._open:
            self.found.append(Found(top.path, top.own, top.start, end))

    def _next(self, end: int) -> None:
        top = self._open[-1]
        if top.is_list:
            top.count += 1
        elif top.key:
            self.found.append(Found(self._at(top), top.key, end, end))
            top.key = None

    def _word(self, place: Range) -> None:
        top = self._open[-1]
        if not top.is_list and top.key is None:
            top.key = place
            return
        self.found.append(Found(self._at(top), top.key, *place, is_text=True))
        top.key = None

    def _colon(self) -> None:
        """Read the value before a colon as a key: the value of the key above it is missing, or the end of a list."""
        top = self._open[-1]
        if top.key or not self.found or self.found[-1].path[: len(top.path)] != top.path or not self.found[-1].is_text:
            return
        last = self.found.pop()
        if top.is_list and len(self._open) > 1:
            self._close(last.start)
        elif last.key:
            self.found.append(Found(last.path, last.key, last.start, last.start))
        if not self._open[-1].is_list:
            self._open[-1].key = (last.start, last.end)


def unquoted(text: str) -> str:
    """Return a key or a value without its quotes."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in QUOTES else text


class _Level(Struct):
    """The keys or items that start at a column; `last` is the path of the last one."""

    column: int
    path: KeyPath
    is_list: bool = False
    last: KeyPath = ()


_KEY = Regex(
    r"""("[^"\n]*+"|'[^'\n]*+')[ \t]*+:(?=\s|\Z)|([^\s#{}\[\],&*!|>'"%@`](?>(?:[^\n:]|:(?!\s|\Z))*)):(?=\s|\Z)"""
)
_QUOTED = Regex(
    r"""("[^"\\]*+(?>(?:\\.[^"\\]*+)*)"|'[^']*+(?>(?:''[^']*+)*)')[ \t]*+(?:#[^\n]*+)?$""", re.MULTILINE | re.DOTALL
)
_COMMENT = Regex(r"(?<=[ \t])#")
_DASH = Regex(r"-(?:[ \t]+|$)", re.MULTILINE)
_SPACE = Regex(r"[ \t]*")
_NAMED = Regex(r"(?:[&!][^\s,\[\]{}]*[ \t]+)*")
"""Matches the anchor and the tag before a value."""

_LONG = ("|", ">", "{", "[", *QUOTES)
"""How a value starts that may have several lines with any indentation."""


class _Loose:
    """Read the lines of YAML by their indentation."""

    def __init__(self, text: str, path: KeyPath) -> None:
        self._text = text
        self._levels = [_Level(-1, path, last=path)]
        self._every: list[Found] = []
        self._found: dict[KeyPath, Found] = {}  # the last one with each path
        self._counts: dict[KeyPath, int] = {}
        self._at = 0  # the start of the next line to read

    def read(self) -> Iterator[Found]:
        """Yield everything that was found."""
        while self._at < len(self._text):
            start = self._at
            self._at = self._end(start) + 1
            here = self._start(start)
            if here < self._end(start) and self._text[here] != "#" and not self._text.startswith("---", start):
                self._content(start, here)
        return iter(self._every)

    def _end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end

    def _start(self, at: int) -> int:
        space = _SPACE.match(self._text, at)
        return space.end() if space else at

    def _content(self, line: int, here: int) -> None:
        while (dash := _DASH.match(self._text, here)) and len(self._levels) < DEEPEST:
            self._item(here - line, here, dash.end())
            here = dash.end()
        if here >= self._end(line) or len(self._levels) >= DEEPEST:
            return
        if self._text[here] not in "{[" and (key := _KEY.match(self._text, here)):
            start, end = key.span(key.lastindex or 0)
            place = start, start + len(self._text[start:end].rstrip())
            self._key(here - line, place)
            self._value(here - line, place, self._start(key.end()))
        elif (last := self._found.get(self._levels[-1].last)) and last.start < last.end:  # one more line of a value
            self._reach((*last.path, ""), here, self._end(line))
        else:
            self._value(self._levels[-1].column, last.key if last else None, here)

    def _item(self, column: int, here: int, end: int) -> None:
        while self._levels[-1].column > column:
            self._levels.pop()
        top = self._levels[-1]
        if not (top.is_list and top.column == column):
            self._levels.append(_Level(column, top.last, is_list=True))
        top = self._levels[-1]
        number = self._counts[top.path] = self._counts.get(top.path, -1) + 1
        top.last = (*top.path, str(number))
        self._add(Found(top.last, None, end, end))
        self._reach(top.last, here, end)

    def _key(self, column: int, key: Range) -> None:
        while self._levels[-1].column > column or (self._levels[-1].column == column and self._levels[-1].is_list):
            self._levels.pop()
        if self._levels[-1].column < column:
            self._levels.append(_Level(column, self._levels[-1].last))
        top = self._levels[-1]
        top.last = (*top.path, unquoted(self._text[slice(*key)]))
        self._add(Found(top.last, key, key[1] + 1, key[1] + 1))
        self._reach(top.last, key[0], key[1] + 1)

    def _value(self, column: int, key: Range | None, start: int) -> None:
        path, line_end = self._levels[-1].last, self._end(start)
        named = _NAMED.match(self._text, start)
        first = self._text[named.end() : named.end() + 1] if named else ""
        if start >= line_end or first == "#" or len(self._levels) == 1:
            return
        end, limit = line_end, self._limit(column, line_end + 1) if first in _LONG else line_end
        if first in ("|", ">"):
            self._at = end = limit
        elif first in ("{", "["):
            flow = _Flow(self._text)
            end = flow.read(path, key, named.end() if named else start, limit)
            for one in flow.found:
                self._add(one)
            self._at = max(self._at, limit if end == limit else self._end(end) + 1)
        elif first in QUOTES and (found := _QUOTED.match(self._text, start, limit)):
            end = found.end(1)
            self._at = max(self._at, self._end(end) + 1)
        elif comment := _COMMENT.search(self._text, start, line_end):
            end = comment.start()
        own = self._found.get(path) or self._add(Found(path, key, start, end))
        own.start, own.end, own.is_text = start, end, first not in ("{", "[")
        self._reach(path, start, end)

    def _add(self, found: Found) -> Found:
        self._every.append(found)
        self._found[found.path] = found
        return found

    def _limit(self, column: int, at: int) -> int:
        """Return the start of the next line that is not inside a value whose key is at a column."""
        while at < len(self._text):
            here, end = self._start(at), self._end(at)
            if here < end and here - at <= column and self._text[here] not in "}]":
                return at
            at = end + 1
        return len(self._text)

    def _reach(self, path: KeyPath, start: int, end: int) -> None:
        """Let the collections around a value start before it and end behind it."""
        for length in range(len(path) - 1, 0, -1):
            if found := self._found.get(path[:length]):
                found.start = start if found.start == found.end else found.start
                found.end = max(found.end, end)


def entries(text: str, first_line: int = 1, list_key: str = "") -> tuple[Entry, ...]:
    """Return the entries of YAML or JSON, whose lines count from a number; a list is below `list_key`.

    An alias has no entries.
    """
    start = text.lstrip()[:1]
    path = (list_key,) if list_key and start in ("-", "[") else ()
    if start not in ("{", "["):
        return placed(text, Lines(text, first_line), _Loose(text, path).read())
    flow = _Flow(text, is_broken=True)
    with suppress(BrokenJsonError):
        load_json(text)
        flow = _Flow(text)
    flow.read(path, None, text.index(start), len(text))
    return placed(text, Lines(text, first_line), flow.found)
