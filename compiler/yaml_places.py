"""Where the keys and items of a YAML text stand."""

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
    """The lines of a text as a `Source` counts them: PyYAML takes more characters for line ends."""

    def __init__(self, text: str, first: int) -> None:
        self.texts = text.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.texts), initial=0))
        self.first = first
        self.may_repeat = may_repeat(text)

    def number(self, mark: Mark | None) -> int:
        """The number of the line of a mark; the first one where there is none."""
        return self.at(mark.index) if mark else self.first

    def at(self, index: int) -> int:
        """The number of the line of a character."""
        return bisect_right(self.starts, index) - 1 + self.first

    def within(self, text: ScalarNode) -> Iterable[int]:
        """The numbers of the lines whose ends are within a text, without empty lines below it that do not count."""
        first, last = self.number(text.start_mark), self.number(text.end_mark)
        if text.style not in ("|", ">"):
            return range(first, last)
        keeps = text.value.endswith("\n\n") or not text.value.strip("\n")
        while not keeps and last > first + 1 and not self.texts[last - 1 - self.first].strip():
            last -= 1
        return range(first + 1, last)

    def span(self, start: Mark, *ends: Mark) -> Span:
        """From a mark to the first of these ends that stands behind it in its line, else to the end of the line."""
        line = self.number(start)
        begin, limit = self.starts[line - self.first : line - self.first + 2]
        end = next((mark.index for mark in ends if start.index < mark.index < limit), limit - 1)
        return Span(line, start.index - begin + 1, line, end - begin + 1)


class Repeated(Struct, frozen=True):
    """A key that stands in its mapping again: its path, where it stands again, and where it stands first."""

    path: KeyPath
    span: Span
    first: Span


_Child = tuple["Mark", tuple["Mark", ...], "Node"]
"""Where the place of a key or an item begins, where it may end, and the node of its value."""


class Places(Mapping[KeyPath, Span]):
    """The places in a tree without aliases and keys that stand again, each found when it is asked for.

    Most are never asked for, and finding all takes longer than composing the text.
    """

    def __init__(self, root: MappingNode, lines: Lines) -> None:
        self._root = root
        self._lines = lines
        self._inner: dict[KeyPath, dict[str, _Child]] = {(): _named(root)}
        self._found: dict[KeyPath, Span] = {}

    def __getitem__(self, path: KeyPath) -> Span:
        """Where a key or an item stands; raises `KeyError`."""
        span = self._found.get(path)
        if span is None:
            if not path:
                raise KeyError(path)
            start, ends, _ = self._children(path[:-1])[path[-1]]
            span = self._found[path] = self._lines.span(start, *ends)
        return span

    def _children(self, path: KeyPath) -> dict[str, _Child]:
        if path not in self._inner:
            self._inner[path] = _named(self._children(path[:-1])[path[-1]][2])
        return self._inner[path]

    def __iter__(self) -> Iterator[KeyPath]:
        """All paths, in the order of the text."""
        for inner in collections(self._root, self._lines):
            self._found.update(inner)
            yield from (path for path, _ in inner)

    def __len__(self) -> int:
        """How many there are."""
        return sum(1 for _ in self)


def repeated_in(inner_ones: Iterable[list[tuple[KeyPath, Span]]]) -> Iterator[Repeated]:
    """The keys that stand again among what is in each collection."""
    for inner in inner_ones:
        seen: dict[KeyPath, Span] = {}
        for path, span in inner:
            first = seen.setdefault(path, span)
            if first is not span:
                yield Repeated(path, span, first)


def collections(root: MappingNode, lines: Lines) -> Iterator[list[tuple[KeyPath, Span]]]:
    """For each collection the paths and places of what is in it."""
    pending: list[tuple[KeyPath, Node]] = [((), root)]
    seen: set[int] = set()
    while pending:
        path, node = pending.pop()
        if id(node) in seen:  # by an alias; those of aliases of aliases could be more than can be counted
            continue
        seen.add(id(node))
        inner = [((*path, name), child) for name, child in children(node)]
        yield [(place, lines.span(start, *ends)) for place, (start, ends, _) in inner]
        pending += [(place, value) for place, (_, _, value) in reversed(inner) if isinstance(value.value, list)]


def children(node: Node) -> Iterator[tuple[str, _Child]]:
    """The names of what is in a collection."""
    import yaml  # noqa: PLC0415 (few documents have YAML, and importing it takes time)

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), (key.start_mark, (value.end_mark, key.end_mark), value)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield str(number), (item.start_mark, (item.end_mark,), item)


def _named(node: Node) -> dict[str, _Child]:
    return dict(children(node))
