"""Read YAML as plain values, with the places of keys and items.

libyaml composes the nodes. PyYAML's Python parser reads what libyaml refuses, because it explains errors better. Only
the safe loaders are used, and keys are the strings as written: YAML 1.1 would read `on` as `True`. The number and depth
of values is limited.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from itertools import chain, islice
from typing import Any

import yaml
from msgspec import Struct
from yaml import MappingNode, Node, ScalarNode, SequenceNode
from yaml.constructor import ConstructorError, SafeConstructor

from compiler.text import files
from compiler.text.regex import Regex
from compiler.text.source import KeyPath, Lines, Repeated, Span, may_repeat

_TEXT, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_SEQUENCE, _MAPPING = "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"
_INTEGER, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_TRUTH, _DATE, _NULL = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:null"

REMEDY = "fix this line; put strings that contain `: ` or ` #` in quotes"

DEEPEST = 200  # the deepest nesting of collections: libyaml's composer crashes on a few thousand levels

MOST_REPEATED = 2_000_000
"""The most characters of strings that aliases may repeat: nested aliases could fill any memory."""

LONGEST_NUMBER = 1000
"""The longest number in characters: Python is slow with longer ones and refuses to print them."""


class UnreadableError(ValueError):
    """The text is not valid YAML or has another form; `line` is the line of the error."""

    def __init__(self, problem: str, line: int, remedy: str = REMEDY) -> None:
        super().__init__(problem)
        self.line = line
        self.help = remedy


def load_value(text: str) -> object:
    """Return the plain value of a text; raise `UnreadableError`."""
    return _read(text, Lines(text))[2]


def load_texts(text: str) -> Any:  # noqa: ANN401 (dicts, lists and strings)
    """Return the value of a text whose scalars are all strings as written; raise `UnreadableError`."""
    return _read(text, Lines(text), texts=(_INTEGER, _FLOAT, _TRUTH, _DATE, _NULL))[2]


@lru_cache(maxsize=1)
def read_mapping(text: str, first_line: int = 1, list_key: str = "") -> Reading:
    """Read a text that is a mapping, whose lines count from `first_line`; raise `UnreadableError`.

    With a `list_key`, a text that is a list is read as a mapping with only this key. A value that an alias repeats has
    the place of its first use. The last result is cached, because a document is read to recognize its format and again
    to compile it. Don't change it.
    """
    lines = Lines(text, first_line)
    root, reader, values = _read(text, lines, list_key)
    if root is None:
        return Reading({}, {}, (), lines, None, reader)
    if not isinstance(root, MappingNode):
        raise UnreadableError(
            "it is not a mapping of keys to values", first_line, "write lines of the form `key: value`"
        )
    repeated = tuple(_repeated_in(root, lines)) if reader.has_repeated else ()
    return Reading(values, dict(chain.from_iterable(_collections(root, lines))), repeated, lines, root, reader)


class Reading(Struct, frozen=True, dict=True):
    """A mapping that was read: its values, their places, and its duplicate keys, of which only the last one counts."""

    values: dict[str, Any]
    spans: dict[KeyPath, Span]
    repeated: tuple[Repeated, ...]
    _lines: Lines
    _root: MappingNode | None
    _reader: _Values

    @cached_property
    def as_written(self) -> dict[str, Any]:
        """The values, with numbers, dates and booleans as strings in the document: `1.10` and `yes` stay."""
        return self._with_texts(_INTEGER, _FLOAT, _TRUTH, _DATE)

    @cached_property
    def with_dates_as_texts(self) -> dict[str, Any]:
        """The values, with dates as strings in the document, as in JSON."""
        return self._with_texts(_DATE)

    def _with_texts(self, *tags: str) -> dict[str, Any]:
        if self._root is None or self._reader.tags.isdisjoint(tags):
            return self.values
        values: dict[str, Any] = _Values(self._lines, tags).value(self._root)
        return values

    @cached_property
    def lines_in_texts(self) -> frozenset[int]:
        """The lines whose line breaks belong to a string, or are inside a multi-line string."""
        found: set[int] = set()
        pending: list[Node] = [self._root] if self._root else []
        seen = {id(self._root)}
        while pending:
            node = pending.pop()
            if isinstance(node, ScalarNode):
                found.update(_within(node, self._lines))
            pending += (part for part in _parts(node) if id(part) not in seen)
            seen.update(map(id, _parts(node)))
        return frozenset(found)


def _within(text: ScalarNode, lines: Lines) -> Iterable[int]:
    """Return the lines whose line breaks are inside a string, without insignificant blank lines after it."""
    first, last = lines.number(text.start_mark.index), lines.number(text.end_mark.index)
    if text.style not in ("|", ">"):
        return range(first, last)
    keeps = text.value.endswith("\n\n") or not text.value.strip("\n")
    while not keeps and last > first + 1 and not lines.text(last - 1).strip():
        last -= 1
    return range(first + 1, last)


# --- Nodes -----------------------------------------------------------------------------------------------------------


def _read(text: str, lines: Lines, list_key: str = "", texts: Collection[str] = ()) -> tuple[Node | None, _Values, Any]:
    reader = _Values(lines, texts)
    try:
        root = _root(text, lines, list_key)
        return root, reader, None if root is None else reader.value(root)
    except yaml.MarkedYAMLError as error:
        raise explain(error, lines) from None
    except yaml.reader.ReaderError as error:
        problem = f"the character U+{ord(text[error.position]):04X} is not allowed"
        raise UnreadableError(problem, lines.number(error.position)) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UnreadableError(str(error).split("\n", 1)[0], lines.first) from None


def _root(text: str, lines: Lines, list_key: str) -> Node | None:
    """Return the root node, or None if the text is empty; a list can get a key."""
    root = _composed(text, lines)
    if root is not None and may_repeat(text):
        _refuse_repetition(root, text, lines)
    return _below(list_key, root)


def _below(list_key: str, root: Node | None) -> Node | None:
    if list_key and isinstance(root, SequenceNode):
        name = ScalarNode(_TEXT, list_key, root.start_mark, root.start_mark)
        return MappingNode(_MAPPING, [(name, root)], root.start_mark, root.end_mark)
    return root


def _composed(text: str, lines: Lines) -> Node | None:
    if yaml.__with_libyaml__:
        with suppress(yaml.YAMLError, UnicodeEncodeError):
            return _compose(yaml.CSafeLoader, text, lines)
    return _compose(yaml.SafeLoader, text, lines)


class _TooManyError(Exception):
    """There is one value too many."""


class _Bounds:
    """Stop a composer at too many or too deeply nested values: a composer calls this around each value."""

    count = depth = 0

    def enter(self, _parent: object, _index: object) -> None:
        self.count += 1
        self.depth += 1
        if self.depth > DEEPEST:
            raise RecursionError(f"it is nested more than {DEEPEST} levels deep")
        if self.count > files.LARGEST_VALUE:
            raise _TooManyError

    def leave(self) -> None:
        self.depth -= 1


def _compose(kind: Any, text: str, lines: Lines) -> Node | None:  # noqa: ANN401 (libyaml's loader has its own type)
    loader, bounds = kind(text), _Bounds()
    loader.descend_resolver, loader.ascend_resolver = bounds.enter, bounds.leave
    loader.resolve = cache(yaml.resolver.Resolver().resolve)  # keys are often repeated
    try:
        root: Node | None = loader.get_single_node()
    except _TooManyError:
        marks: Iterator[Any] = (
            event.start_mark for event in yaml.parse(text, kind) if isinstance(event, yaml.NodeEvent)
        )
        surplus = next(islice(marks, files.LARGEST_VALUE, None))
        problem = f"it has more than {files.LARGEST_VALUE:,} values"
        raise UnreadableError(problem, lines.number(surplus.index)) from None
    return root


def _parts(node: Node) -> list[Node]:
    if isinstance(node, MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, SequenceNode) else []


def _refuse_repetition(root: Node, text: str, lines: Lines) -> None:
    count, characters = _size(root, {})
    if count > files.LARGEST_VALUE:
        problem = f"it has more than {files.LARGEST_VALUE:,} values, including those that aliases repeat"
        raise UnreadableError(problem, lines.first)
    if characters > len(text) + MOST_REPEATED:
        problem = f"its aliases repeat more than {MOST_REPEATED:,} characters"
        raise UnreadableError(problem, lines.first, "use fewer aliases")


def _size(node: Node, sizes: dict[int, tuple[int, int] | None]) -> tuple[int, int]:
    if id(node) not in sizes:
        sizes[id(node)] = None
        inner = [_size(part, sizes) for part in _parts(node)]
        own = len(node.value) if isinstance(node, ScalarNode) else 0
        sizes[id(node)] = 1 + sum(count for count, _ in inner), own + sum(characters for _, characters in inner)
    if (size := sizes[id(node)]) is None:
        raise ConstructorError(None, None, "found unconstructable recursive node", node.start_mark)
    return size


# --- Values ----------------------------------------------------------------------------------------------------------


class _Constructor(SafeConstructor):
    """Convert single values, but no numbers that are too long."""

    def construct_scalar(self, node: Any) -> Any:  # noqa: ANN401 (PyYAML's signature)
        """Return the text of a scalar."""
        if node.tag in (_INTEGER, _FLOAT) and len(node.value) > LONGEST_NUMBER:
            raise ValueError("a number that is too long")
        return super().construct_scalar(node)


class _Values:
    """Convert nodes to values; values with the tags `texts` stay strings."""

    def __init__(self, lines: Lines, texts: Collection[str] = ()) -> None:
        self._lines = lines
        self._texts = texts
        self._constructor = _Constructor()
        self._known: dict[tuple[str, str], object] = {}
        self.has_repeated = False

    @property
    def tags(self) -> frozenset[str]:
        """The tags of the values that are not strings."""
        return frozenset(tag for tag, _ in self._known)

    def value(self, node: Node) -> Any:  # noqa: ANN401 (YAML has values of any type)
        """Return the value of a node, including what merge keys add."""
        tag, value = node.tag, self.value
        if tag == _SEQUENCE and isinstance(node, SequenceNode):
            return [item.value if item.tag == _TEXT else value(item) for item in node.value]
        if tag == _MAPPING and isinstance(node, MappingNode):
            return self._mapping(_pairs(node))
        if not isinstance(node, ScalarNode):
            return self._constructed(node)
        if tag in self._texts:
            return node.value
        known = tag, node.value
        if known not in self._known:
            self._known[known] = self._constructed(node)
        return self._known[known]

    def _mapping(self, pairs: list[tuple[Node, Node]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in pairs:
            if not isinstance(key, ScalarNode):
                raise ConstructorError(None, None, "found unhashable key", key.start_mark)
            found[key.value] = item.value if item.tag == _TEXT else self.value(item)
        self.has_repeated |= len(found) < len(pairs)
        return found

    def _constructed(self, node: Node) -> object:
        try:
            return self._constructor.construct_object(node, deep=True)
        except (ValueError, LookupError, ArithmeticError, AttributeError, TypeError):
            raise UnreadableError("cannot read this value", self._lines.number(node.start_mark.index)) from None


def _pairs(mapping: MappingNode) -> list[tuple[Node, Node]]:
    own: list[tuple[Node, Node]] = [pair for pair in mapping.value if pair[0].tag != _MERGE]
    if len(own) == len(mapping.value):
        return own
    merged: list[tuple[Node, Node]] = []
    for key, item in mapping.value:
        for one in (reversed(item.value) if isinstance(item, SequenceNode) else [item]) if key.tag == _MERGE else ():
            if not isinstance(one, MappingNode):
                raise ConstructorError(None, None, "expected a mapping for merging", one.start_mark)
            merged += _pairs(one)
    return merged + own


# --- Places ----------------------------------------------------------------------------------------------------------


def _repeated_in(root: MappingNode, lines: Lines) -> Iterator[Repeated]:
    for inner in _collections(root, lines, is_merged=False):
        seen: dict[KeyPath, Span] = {}
        for path, span in inner:
            first = seen.setdefault(path, span)
            if first is not span:
                yield Repeated(path, span, first)


def _collections(root: MappingNode, lines: Lines, *, is_merged: bool = True) -> Iterator[list[tuple[KeyPath, Span]]]:
    pending: list[tuple[KeyPath, Node]] = [((), root)]
    seen: set[int] = set()
    while pending:
        path, node = pending.pop()
        if id(node) in seen:  # an alias; nested aliases could mean too many items to count
            continue
        seen.add(id(node))
        inner = [((*path, name), key, value) for name, key, value in _named(node, is_merged=is_merged)]
        yield [
            (place, lines.span(key.start_mark.index, value.end_mark.index, key.end_mark.index))
            for place, key, value in inner
        ]
        pending += [(place, value) for place, _, value in reversed(inner) if isinstance(value.value, list)]


def _named(node: Node, *, is_merged: bool) -> list[tuple[str, Node, Node]]:
    """Return the items of a collection: the name, the node where its place starts, and the node of its value."""
    if isinstance(node, MappingNode):
        return [(str(key.value), key, value) for key, value in (_pairs(node) if is_merged else node.value)]
    return [(str(number), item, item) for number, item in enumerate(_parts(node))]


# --- Errors ----------------------------------------------------------------------------------------------------------

QUOTE = "put the value in quotes"
_INDENT = "indent this line like the other keys or items of its list or mapping"
_OPENING = Regex(r"unexpected end of stream|could not find expected ':'|expected ',' or")
"""Problems that are explained at the line where the unreadable part starts."""

_RULES = (
    (r"character '\\t'", "there is a tab in the indentation", "indent with spaces: YAML allows no tabs here"),
    (r"character '(.+)' that cannot", "a value cannot start with `{0}`", QUOTE),
    (r"unexpected end of stream", "the quote in this line is not closed", "close it"),
    (r"unknown escape character '(.+)'", r"`\{0}` has no meaning in double quotes", r"write `\\{0}`, or '…'"),
    (r"escape sequence of", "an escape in double quotes is missing digits", "write `\\\\` for a backslash"),
    (r"sequence entries", "a list cannot start on the line of its key", "start it on the next line: `- …`"),
    (r"could not find expected ':'", "this line is not `key: value`", "add a colon and a value"),
    (r"<block end>.*'<block (?:mapping|sequence) start>'", "this line is indented differently", _INDENT),
    (r"<block end>.*'<scalar>'", "there is text after the closing quote", "quote the whole value once"),
    (r"<block end>.*'-'", "expected a key, found a list item", "indent the item below the key of its list"),
    (r"<block end>.*'\?'", "expected a list item, found a key", "indent the key like those of the item above"),
    (r"expected ',' or '([]}])'", "this bracket is not closed", "add `{0}`, or quote the value"),
    (r"content, but found '(.)'", "a value cannot start with `{0}`", QUOTE),
    (r"<block end>.*'([]}])'", "`{0}` has no matching bracket", "remove it, or put the value in quotes"),
    (r"undefined alias '(.+)'", "there is no anchor for `*{0}`", QUOTE),
    (r"scanning an alias.*alphabetic", "a value cannot start with `*` here", QUOTE),
    (r"scanning an anchor.*alphabetic", "a value cannot start with `&` here", QUOTE),
    (r"2002:merge'|for merging", "`<<` needs a mapping inside a mapping", "write an alias of a mapping after it"),
    (r"constructor for the tag '(.+)'", "rdc does not support the tag `{0}`", "remove it, or quote the value"),
    (r"second occurrence", "two values have the same anchor", "rename this anchor (`&…`)"),
    (r"comment or a line break|chomping", "there is text after `|` or `>`", "start the text on the next line"),
    (r"another document", "a second document starts here", "remove the line `---`, or use two files"),
    (r"<document start>", "there is text after the end of the document", "remove it, or put it inside"),
    (
        r"unhashable key",
        "a key cannot be a list or a mapping",
        'put values that start with a brace or bracket in quotes: `"{{…}}"`',
    ),
    (r"recursive node", "a value contains itself", "remove the alias (`*…`) inside it"),
    (r"mapping keys are not", "a value cannot start with `?`", QUOTE),
)
"""Patterns of PyYAML's words, context first, and rdc's words for them, in which `{0}` is the part in parentheses."""


def explain(error: yaml.MarkedYAMLError, lines: Lines) -> UnreadableError:
    """Return the error for a PyYAML error, in rdc's words."""
    problem, here = error.problem or "", error.problem_mark or error.context_mark
    at = lines.number(here.index) if here else lines.first
    line = lines.text(at)
    if re.match(r"\s*-[^\s-]", line) and "<block end>" in problem:
        return UnreadableError("a list item has no space after its dash", at, f"write `- {line.strip()[1:40].strip()}`")
    if "'<scalar>'" in problem and re.match(r"[^:{[]+:\s+[{[][^:{[]*[]}]", line):
        return UnreadableError("there is text after the closing bracket", at, _in_quotes(line))
    if problem.startswith("mapping values"):
        return UnreadableError(*_second_colon(line, line[: here.column] if here else "", at))
    if error.context_mark and _OPENING.search(problem):
        at = lines.number(error.context_mark.index)
    for pattern, plain, remedy in _RULES:
        if match := re.search(pattern, f"{error.context or ''}\0{problem}"):
            part = match[1] if match.groups() else ""
            return UnreadableError(plain.replace("{0}", part), at, remedy.replace("{0}", part))
    return UnreadableError(problem or "cannot read this", at, REMEDY)


def _in_quotes(line: str) -> str:
    key, _, value = line.strip().lstrip("- ").partition(":")
    quoted = value.strip().replace("\\", "\\\\").replace('"', '\\"')
    example = f'`{key}: "{quoted}"`' if len(line) <= 80 else f'`{key}: "…"`'
    return f"put the value in quotes: {example}"


def _second_colon(line: str, before: str, at: int) -> tuple[str, int, str]:
    if re.search(r":\s", before):
        return "the value contains a second `: `", at, _in_quotes(line)
    problem = "this key is not valid after the line above it"
    remedy = "indent it like the keys above, and check that the line above is `key: value` with a space after the colon"
    return problem, at, remedy
