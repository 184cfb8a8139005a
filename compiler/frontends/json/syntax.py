"""What a JSON text is before it is a program: a plain value, and where in the text its parts stand."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from compiler.diagnostic import Diagnostic, Related
from compiler.source import KeyPath, Source, Span

DEPTH_KEPT = 4
"""The places of parts at this depth are always known: those of nodes and of their edges. Others are looked for."""

_TOKEN = re.compile(r'[ \t\r\n]*(?:(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<mark>[{}\[\],:])|(?P<plain>[^\s{}\[\],:"]+))')
_COLON = re.compile(r"[ \t\r\n]*:")
_LINE_END = re.compile(r"\r\n|\r|\n")


class Stretch(NamedTuple):
    """From one character of a text to another, which is not part of it."""

    start: int
    end: int


class Repeated(NamedTuple):
    """A key that an object has twice: what leads to it, and both places."""

    path: KeyPath
    first: Stretch
    again: Stretch


@dataclass
class Layout:
    """What one pass over a text finds: places of values and of their keys, keys that stand twice, depth and size."""

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


class Problem(NamedTuple):
    """Something that is wrong in a text: a code, what leads to it, what is wrong, and what to do.

    `is_key` says that it is the key itself; `other` leads to something that it has to do with, and `about` says what.
    """

    code: str
    path: KeyPath
    message: str
    help: str
    is_key: bool = False
    other: KeyPath | None = None
    about: str = ""


class Places:
    """Where things stand in a source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(source.text))]

    def span(self, place: Stretch) -> Span:
        """A stretch as lines and columns, to the end of its first line at most."""
        line = bisect_right(self._starts, place.start)
        begin = self._starts[line - 1]
        over = _LINE_END.search(self.source.text, place.start)
        end = min(place.end, over.start() if over else place.end)
        return Span(line, place.start - begin + 1, line, max(end, place.start) - begin + 1)

    def at(self, offset: int) -> Span:
        """A single character."""
        return self.span(Stretch(offset, offset + 1))

    def diagnostics(self, problems: list[Problem]) -> list[Diagnostic]:
        """Problems at their places."""
        wanted = {path for item in problems for path in (item.path, item.other) if path is not None}
        layout = lay_out(self.source.text, wanted) if problems else Layout()
        return [self._diagnostic(item, layout) for item in problems]

    def _diagnostic(self, item: Problem, layout: Layout) -> Diagnostic:
        span = self.span(_nearest(layout, item.path, is_key=item.is_key))
        related: tuple[Related, ...] = ()
        if item.other is not None:
            other = self.span(_nearest(layout, item.other, is_key=False))
            related = (Related(self.source.path, other, item.about),)
        return Diagnostic(item.code, self.source.path, span, item.message, item.help, related)


def _nearest(layout: Layout, path: KeyPath, *, is_key: bool) -> Stretch:
    """Where something stands, else what is around it."""
    if is_key and path in layout.keys:
        return layout.keys[path]
    while path not in layout.values and path:
        path = path[:-1]
    return layout.values.get(path, Stretch(0, 1))
