"""YAML, read as plain values, and where in the text each key and item stands.

Only the safe loader is used, and keys are the texts that are written: YAML 1.1 would make `True` of `on`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from compiler import yaml_nodes
from compiler.source import KeyPath, Span

if TYPE_CHECKING:
    from yaml import MappingNode, Mark, MarkedYAMLError, Node, SafeLoader, ScalarNode

_TRUTH, _DATE = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"


REMEDY = "correct this line; put strings that contain `: ` or ` #` in quotes"

MOST_REPEATED = 2_000_000
"""In characters of texts that aliases repeat, for the same reason."""


class UnreadableError(ValueError):
    """The text is not YAML, or not what was wanted; `line` is where that shows, and `remedy` what to do."""

    def __init__(self, problem: str, line: int, remedy: str = REMEDY) -> None:
        super().__init__(problem)
        self.line = line
        self.remedy = remedy


class _Lines:
    """The lines of a text as a `Source` counts them: PyYAML takes more characters for line ends."""

    def __init__(self, text: str, first: int) -> None:
        self.starts = [0]
        self.texts = text.split("\n")
        for line in self.texts:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.first = first
        self.may_repeat = "*" in text and "&" in text  # by aliases

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


def load_value(text: str) -> object:
    """The plain value of a text; raises `UnreadableError`."""
    loader, node = _compose(text, _Lines(text, 1))
    return None if node is None else _construct(loader, node, _Lines(text, 1))


def load_mapping(text: str, first_line: int = 1) -> tuple[dict[str, Any], dict[KeyPath, Span]]:
    """The values of a text by key, and where each key and item in it stands; raises `UnreadableError`.

    Lines count from `first_line`. What an alias repeats has its places where it is first used.
    """
    read = read_mapping(text, first_line)
    return read.values, read.spans


@lru_cache(maxsize=1)
def read_mapping(text: str, first_line: int = 1, list_key: str = "") -> Reading:
    """A text that is a mapping, as `load_mapping` reads it; raises `UnreadableError`.

    With a `list_key` a text that is a list stands for a mapping with this key alone.
    The last one is kept: a document is read to recognise its format, and again to compile it. Nobody changes it.
    """
    import yaml  # noqa: PLC0415 (few documents have YAML, and importing it takes time)

    lines = _Lines(text, first_line)
    loader, root = _compose(text, lines)
    if root is None:
        return Reading({}, {}, (), lines, None)
    if list_key and isinstance(root, yaml.SequenceNode):
        key = yaml.ScalarNode(yaml_nodes.TEXT, list_key, root.start_mark, root.start_mark)
        root = yaml.MappingNode("tag:yaml.org,2002:map", [(key, root)], root.start_mark, root.end_mark)
    if not isinstance(root, yaml.MappingNode):
        raise UnreadableError(
            "it is not a mapping of keys to values", first_line, "write lines of the form `key: value`"
        )
    inner = list(_collections(root, lines))
    repeated = tuple(_repeated(inner))  # before merge keys are resolved, which adds keys to mappings
    values = _values(loader, root, lines)
    spans = dict(chain.from_iterable(_collections(root, lines) if "<<" in text else inner))
    return Reading(values, spans, repeated, lines, root)


class Repeated(NamedTuple):
    """A key that stands in its mapping again: its path, where it stands again, and where it stands first."""

    path: KeyPath
    span: Span
    first: Span


class Reading(Struct, frozen=True, dict=True):
    """A mapping that was read: its values, the place of each, and of keys that stand in a mapping again.

    Of those YAML keeps the last alone.
    """

    values: dict[str, Any]
    spans: dict[KeyPath, Span]
    repeated: tuple[Repeated, ...]
    _lines: _Lines
    _root: MappingNode | None

    @cached_property
    def as_written(self) -> dict[str, Any]:
        """The values, where a number, a date or a truth value is what its author wrote: `1.10` and `yes` stay."""
        return self._with_texts(yaml_nodes.INTEGER, yaml_nodes.FLOAT, _TRUTH, _DATE)

    @cached_property
    def with_dates_as_texts(self) -> dict[str, Any]:
        """The values, where a date is the text that its author wrote, as in JSON."""
        return self._with_texts(_DATE)

    def _with_texts(self, *tags: str) -> dict[str, Any]:
        return _values(yaml_nodes.loader(tags)(""), self._root, self._lines) if self._root else {}

    @cached_property
    def lines_in_texts(self) -> frozenset[int]:
        """The numbers of the lines whose ends belong to a text, or lie within one of several lines."""
        found: set[int] = set()
        for node in _scalars(self._root) if self._root else ():
            found.update(self._lines.within(node))
        return frozenset(found)


def _values(loader: SafeLoader, root: MappingNode, lines: _Lines) -> dict[str, Any]:
    values = {}
    for key, value in root.value:
        values[str(_construct(loader, key, lines))] = _construct(loader, value, lines)
    return values


def _compose(text: str, lines: _Lines) -> tuple[SafeLoader, Node | None]:
    import yaml  # noqa: PLC0415 (as above)

    try:
        root = yaml_nodes.compose(text)
        if root and lines.may_repeat and _size(root, {}) > yaml_nodes.LARGEST_VALUE:
            raise UnreadableError(
                f"with what its aliases repeat it has more than {yaml_nodes.LARGEST_VALUE:,} values", lines.first
            )
        if root and lines.may_repeat and _size(root, {}, _characters) > len(text) + MOST_REPEATED:
            problem = f"its aliases repeat more than {MOST_REPEATED:,} characters"
            raise UnreadableError(problem, lines.first, "repeat less by aliases")
    except yaml_nodes.TooLargeError as error:
        raise UnreadableError(
            f"it has more than {yaml_nodes.LARGEST_VALUE:,} values", lines.first + error.args[0]
        ) from None
    except yaml.MarkedYAMLError as error:
        raise _unreadable(error, lines) from None
    except yaml.reader.ReaderError as error:
        problem = f"the character U+{ord(text[error.position]):04X} is not allowed"
        raise UnreadableError(problem, lines.at(error.position)) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UnreadableError(str(error).split("\n", 1)[0], lines.first) from None
    return yaml_nodes.loader(())(""), root  # it has nothing to read: it makes values of nodes


def _unreadable(error: MarkedYAMLError, lines: _Lines) -> UnreadableError:
    """Say what PyYAML found in words that name what to do."""
    from compiler.yaml_problems import explain  # noqa: PLC0415 (only for errors)

    at = lines.number(error.problem_mark or error.context_mark)
    told = explain(error, lines.texts[min(at - lines.first, len(lines.texts) - 1)])
    return UnreadableError(told.problem, lines.number(told.mark), told.remedy)


def _size(node: Node, sizes: dict[int, int], weight: Callable[[Node], int] = lambda _node: 1) -> int:
    """How many values a node holds, itself included; it is as deep at most as what PyYAML has read by recursion."""
    if id(node) not in sizes:
        sizes[id(node)] = weight(node)  # what holds itself is not worth counting: it cannot be read
        inner = node.value if isinstance(node.value, list) else []
        parts = [part for item in inner for part in (item if isinstance(item, tuple) else [item])]
        sizes[id(node)] += sum(_size(part, sizes, weight) for part in parts)
    return sizes[id(node)]


def _characters(node: Node) -> int:
    return len(node.value) if isinstance(node.value, str) else 0


def _construct(loader: SafeLoader, node: Node, lines: _Lines) -> Any:  # noqa: ANN401 (YAML has values of any type)
    import yaml  # noqa: PLC0415 (as above)

    try:
        return loader.construct_object(node, deep=True) if lines.may_repeat else yaml_nodes.value(loader, node)
    except yaml.MarkedYAMLError as error:
        raise _unreadable(error, lines) from None
    except (yaml.YAMLError, ValueError, LookupError, ArithmeticError, AttributeError, TypeError, RecursionError):
        raise UnreadableError("this value cannot be read", lines.number(node.start_mark)) from None


def _scalars(root: Node) -> Iterator[ScalarNode]:
    """The texts in a tree, each once."""
    import yaml  # noqa: PLC0415 (as above)

    pending, seen = [root], {id(root)}
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.ScalarNode):
            yield node
            continue
        parts = [part for item in node.value for part in (item if isinstance(item, tuple) else [item])]
        pending += (part for part in parts if id(part) not in seen)
        seen.update(map(id, parts))


def _repeated(collections: Iterable[list[tuple[KeyPath, Span]]]) -> Iterator[Repeated]:
    for inner in collections:
        seen: dict[KeyPath, Span] = {}
        for path, span in inner:
            first = seen.setdefault(path, span)
            if first is not span:
                yield Repeated(path, span, first)


def _collections(root: MappingNode, lines: _Lines) -> Iterator[list[tuple[KeyPath, Span]]]:
    """For each collection the paths and places of what is in it."""
    pending: list[tuple[KeyPath, Node]] = [((), root)]
    seen: set[int] = set()
    while pending:
        path, node = pending.pop()
        if id(node) in seen:  # by an alias; those of aliases of aliases could be more than can be counted
            continue
        seen.add(id(node))
        inner = [((*path, name), span, value) for name, span, value in _children(node, lines)]
        yield [(place, span) for place, span, _ in inner]
        pending += [(place, value) for place, _, value in reversed(inner) if isinstance(value.value, list)]


def _children(node: Node, lines: _Lines) -> Iterator[tuple[str, Span, Node]]:
    """The name, the place and the node of each value in a collection."""
    import yaml  # noqa: PLC0415 (as above)

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), lines.span(key.start_mark, value.end_mark, key.end_mark), value
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield str(number), lines.span(item.start_mark, item.end_mark), item
