"""Read common YAML in one pass over the nodes of libyaml's composer.

Common YAML has no aliases, merge keys, tags, duplicate keys or deep nesting. Any other text, and any error, raises
`NotPlainError`; `compiler/yaml_text.py` then reads the text in another way.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

import yaml
from msgspec import Struct

from compiler import yaml_nodes
from compiler.regex import Regex
from compiler.yaml_nodes import MAPPING, MERGE, SEQUENCE, TEXT

DEEPEST = 100
"""The deepest nesting of collections; the Python parser reads a few times as many by recursion before it fails."""

MOST_BRACKETS = 2000
"""The most opening brackets; nesting about twice as many crashes libyaml's composer."""

_BRACKET = Regex(r"[\[{](?<![^\s\[{,:?-][\[{])")
_INDENTED = Regex(rf"[\n\r\x85\u2028\u2029][ ?:-]{{{DEEPEST}}}")
"""Matches deep indentation, since nested collections without brackets start in different columns."""


class NotPlainError(Exception):
    """The text must be read in another way."""


class Plain(Struct, frozen=True):
    """A mapping: its node, its values, and the tags of values that are not strings."""

    root: yaml.MappingNode
    values: dict[str, Any]
    tags: frozenset[str]


def read_plain(text: str, list_key: str = "") -> Plain:
    """Read a mapping, or with a `list_key` a list, which is read as a mapping with only this key.

    Raises:
        NotPlainError: It is neither, or it is not plain.
    """
    root = _compose(text)
    if list_key and isinstance(root, yaml.SequenceNode):
        root = under_key(root, list_key)
    if not isinstance(root, yaml.MappingNode):
        raise NotPlainError
    reader = _Reader(())
    values = reader.value(root)
    return Plain(root, values, frozenset(tag for tag, _ in reader.read))


def under_key(root: yaml.SequenceNode, key: str) -> yaml.MappingNode:
    """Return a mapping node with a list under a key."""
    name = yaml.ScalarNode(TEXT, key, root.start_mark, root.start_mark)
    return yaml.MappingNode(MAPPING, [(name, root)], root.start_mark, root.end_mark)


def with_texts(plain: Plain, tags: Collection[str]) -> dict[str, Any]:
    """Return the values, with values of these tags as the strings in the document."""
    if plain.tags.isdisjoint(tags):
        return plain.values
    found: dict[str, Any] = _Reader(tags).value(plain.root)
    return found


def _compose(text: str) -> yaml.Node | None:
    if not yaml.__with_libyaml__ or yaml_nodes.may_repeat(text):  # nested aliases could fill any memory
        raise NotPlainError
    if yaml_nodes.is_read_unlike(text) or not _is_small(text):
        raise NotPlainError
    try:
        return _loader(text).get_single_node()
    except (yaml.YAMLError, UnicodeEncodeError):
        raise NotPlainError from None


def _is_small(text: str) -> bool:
    """Return whether the text has few enough values and nesting levels for libyaml's composer.

    A text has at most two values for each character that can come before a value.
    """
    if 2 * sum(map(text.count, ":?-,[{")) >= yaml_nodes.LARGEST_VALUE:
        return False
    if max(map(len, text.splitlines()), default=0) >= DEEPEST and _INDENTED.search(f"\n{text}"):
        return False
    return text.count("[") + text.count("{") <= MOST_BRACKETS or len(_BRACKET.findall(text)) <= MOST_BRACKETS


def _loader(text: str) -> yaml.CSafeLoader:
    """Return a loader for one text, which caches the tags of repeated values such as keys."""
    loader: Any = yaml.CSafeLoader(text)
    loader.resolve = cache(yaml.resolver.Resolver().resolve)  # its own resolver would be a reference cycle
    loader.descend_resolver = loader.ascend_resolver = "".format  # does nothing: no tags depend on paths
    return loader  # type: ignore[no-any-return]


class _Reader:
    """Convert nodes to values; values of some tags stay strings. `read` caches the values that are not strings."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = texts
        self._loader: Any = yaml_nodes.loader(())("")  # it has nothing to read, only nodes to convert
        self.read: dict[tuple[str, str], object] = {}

    def value(self, node: Any, depth: int = 0) -> Any:  # noqa: ANN401 (YAML has values of any type)
        """Return the value of a node that is not a string."""
        tag = node.tag
        if depth > DEEPEST or (tag in (MAPPING, SEQUENCE) and node.flow_style and not yaml_nodes.is_alike(node)):
            raise NotPlainError
        if tag == MAPPING:
            return self._mapping(node, depth + 1)
        if tag == SEQUENCE:
            value, deeper = self.value, depth + 1
            return [item.value if item.tag == TEXT else value(item, deeper) for item in node.value]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in node.value:
            if key.tag != TEXT and (key.tag == MERGE or not isinstance(key, yaml.ScalarNode)):
                raise NotPlainError
            found[key.value] = item.value if item.tag == TEXT else self.value(item, depth)
        if len(found) < len(node.value):  # a duplicate key
            raise NotPlainError
        return found

    def _scalar(self, node: yaml.ScalarNode) -> object:
        known = node.tag, node.value
        if known not in self.read:
            try:
                self.read[known] = self._loader.yaml_constructors[node.tag](self._loader, node)
            except (yaml.YAMLError, ValueError, LookupError, ArithmeticError, AttributeError, TypeError):
                raise NotPlainError from None
        return node.value if node.tag in self._texts else self.read[known]
