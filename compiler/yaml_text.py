"""Read YAML as plain values, with the places of keys and items.

Only the safe loader is used, and keys are the strings as written: YAML 1.1 would read `on` as `True`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from compiler import yaml_nodes
from compiler.source import KeyPath, Span, Spans
from compiler.yaml_places import Lines, Places, Repeated, collections, repeated_in

if TYPE_CHECKING:
    from yaml import MappingNode, MarkedYAMLError, Node, SafeLoader, ScalarNode

    from compiler.yaml_plain import Plain

_TRUTH, _DATE = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"

REMEDY = "fix this line; put strings that contain `: ` or ` #` in quotes"

MOST_REPEATED = 2_000_000
"""The most characters of strings that aliases may repeat, for the same reason."""


class UnreadableError(ValueError):
    """The text is not valid YAML or has another form; `line` is the line of the error."""

    def __init__(self, problem: str, line: int, remedy: str = REMEDY) -> None:
        super().__init__(problem)
        self.line = line
        self.remedy = remedy


def load_value(text: str) -> object:
    """Return the plain value of a text; raise `UnreadableError`."""
    loader, node = _compose(text, Lines(text, 1))
    return None if node is None else _construct(loader, node, Lines(text, 1))


@lru_cache(maxsize=1)
def read_mapping(text: str, first_line: int = 1, list_key: str = "") -> Reading:
    """Read the values of a text that is a mapping, and the place of each key and item; raise `UnreadableError`.

    Lines count from `first_line`. A value that an alias repeats has the place of its first use. With a `list_key`, a
    text that is a list is read as a mapping with only this key. The last result is cached, because a document is read
    to recognize its format and again to compile it. Don't change it.
    """
    import yaml  # noqa: PLC0415 (few documents have YAML, and importing it takes time)

    from compiler.yaml_plain import NotPlainError, read_plain, under_key  # noqa: PLC0415 (it imports PyYAML)

    lines = Lines(text, first_line)
    with suppress(NotPlainError):
        plain = read_plain(text, list_key)
        return Reading(plain.values, Places(plain.root, lines), (), lines, plain.root, plain)
    loader, root = _compose(text, lines)
    if root is None:
        return Reading({}, {}, (), lines, None)
    if list_key and isinstance(root, yaml.SequenceNode):
        root = under_key(root, list_key)
    if not isinstance(root, yaml.MappingNode):
        raise UnreadableError(
            "it is not a mapping of keys to values", first_line, "write lines of the form `key: value`"
        )
    inner = list(collections(root, lines))
    repeated = tuple(repeated_in(inner))  # before resolving merge keys, which add keys to mappings
    values = _values(loader, root, lines)
    spans = dict(chain.from_iterable(collections(root, lines) if "<<" in text else inner))
    return Reading(values, spans, repeated, lines, root)


class Reading(Struct, frozen=True, dict=True):
    """A mapping that was read: its values, their places, and its duplicate keys, of which only the last one counts."""

    values: dict[str, Any]
    places: Spans
    repeated: tuple[Repeated, ...]
    _lines: Lines
    _root: MappingNode | None
    _plain: Plain | None = None

    @cached_property
    def spans(self) -> dict[KeyPath, Span]:
        """The places of all values, as a dictionary."""
        return dict(self.places)

    @cached_property
    def as_written(self) -> dict[str, Any]:
        """The values, with numbers, dates and booleans as strings in the document: `1.10` and `yes` stay."""
        return self._with_texts(yaml_nodes.INTEGER, yaml_nodes.FLOAT, _TRUTH, _DATE)

    @cached_property
    def with_dates_as_texts(self) -> dict[str, Any]:
        """The values, with dates as strings in the document, as in JSON."""
        return self._with_texts(_DATE)

    def _with_texts(self, *tags: str) -> dict[str, Any]:
        if self._plain:
            from compiler.yaml_plain import with_texts  # noqa: PLC0415 (as above)

            return with_texts(self._plain, tags)
        return _values(yaml_nodes.loader(tags)(""), self._root, self._lines) if self._root else {}

    @cached_property
    def lines_in_texts(self) -> frozenset[int]:
        """The lines whose line breaks belong to a string, or are inside a multi-line string."""
        found: set[int] = set()
        for node in _scalars(self._root) if self._root else ():
            found.update(self._lines.within(node))
        return frozenset(found)


def _values(loader: SafeLoader, root: MappingNode, lines: Lines) -> dict[str, Any]:
    values = {}
    for key, value in root.value:
        values[str(_construct(loader, key, lines))] = _construct(loader, value, lines)
    return values


def _compose(text: str, lines: Lines) -> tuple[SafeLoader, Node | None]:
    import yaml  # noqa: PLC0415 (as above)

    try:
        root = yaml_nodes.compose(text)
        if root and lines.may_repeat and _size(root, {}) > yaml_nodes.LARGEST_VALUE:
            raise UnreadableError(
                f"it has more than {yaml_nodes.LARGEST_VALUE:,} values, including those that aliases repeat",
                lines.first,
            )
        if root and lines.may_repeat and _size(root, {}, _characters) > len(text) + MOST_REPEATED:
            problem = f"its aliases repeat more than {MOST_REPEATED:,} characters"
            raise UnreadableError(problem, lines.first, "use fewer aliases")
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
    return yaml_nodes.loader(())(""), root  # it has nothing to read, only nodes to convert


def _unreadable(error: MarkedYAMLError, lines: Lines) -> UnreadableError:
    """Return the error for a PyYAML error, in rdc's words."""
    from compiler.yaml_problems import explain  # noqa: PLC0415 (only for errors)

    at = lines.number(error.problem_mark or error.context_mark)
    told = explain(error, lines.texts[min(at - lines.first, len(lines.texts) - 1)])
    return UnreadableError(told.problem, lines.number(told.mark), told.remedy)


def _size(node: Node, sizes: dict[int, int], weight: Callable[[Node], int] = lambda _node: 1) -> int:
    """Return the number of values in a node, including itself; PyYAML has already limited its depth."""
    if id(node) not in sizes:
        sizes[id(node)] = weight(node)  # no need to count recursive nodes, because they cannot be read
        inner = node.value if isinstance(node.value, list) else []
        parts = [part for item in inner for part in (item if isinstance(item, tuple) else [item])]
        sizes[id(node)] += sum(_size(part, sizes, weight) for part in parts)
    return sizes[id(node)]


def _characters(node: Node) -> int:
    return len(node.value) if isinstance(node.value, str) else 0


def _construct(loader: SafeLoader, node: Node, lines: Lines) -> Any:  # noqa: ANN401 (YAML has values of any type)
    import yaml  # noqa: PLC0415 (as above)

    try:
        return loader.construct_object(node, deep=True) if lines.may_repeat else yaml_nodes.value(loader, node)
    except yaml.MarkedYAMLError as error:
        raise _unreadable(error, lines) from None
    except (yaml.YAMLError, ValueError, LookupError, ArithmeticError, AttributeError, TypeError, RecursionError):
        raise UnreadableError("cannot read this value", lines.number(node.start_mark)) from None


def _scalars(root: Node) -> Iterator[ScalarNode]:
    """Yield the strings in a tree, each once."""
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
