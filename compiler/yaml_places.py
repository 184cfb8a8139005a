"""Find the places of keys and items in YAML text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec import Struct

from compiler.source import KeyPath, Span
from compiler.yaml_nodes import may_repeat

if TYPE_CHECKING:
    from yaml import MappingNode, Mark, Node, ScalarNode


class Lines:
    """The lines of a text as a `Source` counts them; PyYAML knows more line breaks."""

    def __init__(self, text: str, first: int) -> None:
        self.texts = text.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.texts), initial=0))
        self.first = first
        self.may_repeat = may_repeat(text)

    def number(self, mark: Mark | None) -> int:
        """Return the line number of a mark, or the first line without one."""
        return self.at(mark.index) if mark else self.first

    def at(self, index: int) -> int:
        """Return the line number of a character."""
        return bisect_right(self.starts, index) - 1 + self.first

    def within(self, text: ScalarNode) -> Iterable[int]:
        """Return the lines whose line breaks are inside a string, without insignificant blank lines after it."""
        first, last = self.number(text.start_mark), self.number(text.end_mark)
        if text.style not in ("|", ">"):
            return range(first, last)
        keeps = text.value.endswith("\n\n") or not text.value.strip("\n")
        while not keeps and last > first + 1 and not self.texts[last - 1 - self.first].strip():
            last -= 1
        return range(first + 1, last)

    def span(self, start: Mark, *ends: Mark) -> Span:
        """Return the span from a mark to the first of these ends on its line, or to the end of the line."""
        index = start.index
        behind = bisect_right(self.starts, index)
        line, begin, end = behind - 1 + self.first, self.starts[behind - 1], self.starts[behind] - 1
        for mark in ends:
            if index < mark.index <= end:
                end = mark.index
                break
        return Span(line, index - begin + 1, line, end - begin + 1)


class Repeated(Struct, frozen=True):
    """A duplicate key of a mapping: its path, its place, and the place of the first one."""

    path: KeyPath
    span: Span
    first: Span


_Child = tuple["Node", "Node"]
"""The node of a key or item, where its place starts, and the node of its value."""


class Places(Mapping[KeyPath, Span]):
    """The places in a tree without aliases and duplicate keys, each found on demand.

    Most are never needed, and finding all takes longer than composing the text.
    """

    def __init__(self, root: MappingNode, lines: Lines) -> None:
        self._root = root
        self._lines = lines
        self._inner: dict[KeyPath, dict[str, _Child]] = {(): dict(_named(root))}
        self._found: dict[KeyPath, Span] = {}

    def __getitem__(self, path: KeyPath) -> Span:
        """Return the place of a key or item; raise `KeyError`."""
        span = self._found.get(path)
        if span is None:
            if not path:
                raise KeyError(path)
            span = self._found[path] = _span(self._children(path[:-1])[path[-1]], self._lines)
        return span

    def _children(self, path: KeyPath) -> dict[str, _Child]:
        found = self._inner.get(path)
        if found is None:
            _, value = self._children(path[:-1])[path[-1]]
            found = self._inner[path] = dict(_named(value))
        return found

    def __iter__(self) -> Iterator[KeyPath]:
        """Yield all paths in document order."""
        for inner in collections(self._root, self._lines):
            self._found.update(inner)
            yield from (path for path, _ in inner)

    def __len__(self) -> int:
        """Return the number of places."""
        return sum(1 for _ in self)


def repeated_in(inner_ones: Iterable[list[tuple[KeyPath, Span]]]) -> Iterator[Repeated]:
    """Yield the duplicate keys among the items of each collection."""
    for inner in inner_ones:
        seen: dict[KeyPath, Span] = {}
        for path, span in inner:
            first = seen.setdefault(path, span)
            if first is not span:
                yield Repeated(path, span, first)


def collections(root: MappingNode, lines: Lines) -> Iterator[list[tuple[KeyPath, Span]]]:
    """Yield the paths and places of each collection's items."""
    pending: list[tuple[KeyPath, Node]] = [((), root)]
    seen: set[int] = set()
    while pending:
        path, node = pending.pop()
        if id(node) in seen:  # an alias; nested aliases could mean too many items to count
            continue
        seen.add(id(node))
        inner = [((*path, name), child) for name, child in _named(node)]
        yield [(place, _span(child, lines)) for place, child in inner]
        pending += [(place, value) for place, (_, value) in reversed(inner) if isinstance(value.value, list)]


def _span(child: _Child, lines: Lines) -> Span:
    key, value = child
    return lines.span(key.start_mark, value.end_mark, key.end_mark)


def _named(node: Node) -> list[tuple[str, _Child]]:
    """Return the items of a collection with their names."""
    import yaml  # noqa: PLC0415 (few documents have YAML, and importing it takes time)

    if isinstance(node, yaml.MappingNode):
        return [(str(pair[0].value), pair) for pair in node.value]
    items = node.value if isinstance(node, yaml.SequenceNode) else ()
    return [(str(number), (item, item)) for number, item in enumerate(items)]
