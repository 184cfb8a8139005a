"""YAML as nearly everybody writes it, read in one pass over what libyaml's composer makes of it.

That is YAML without aliases, merge keys, tags and keys that stand in a mapping again, and not deeply nested. For any
other text, and wherever something is wrong, there is `NotPlainError`: `compiler/yaml_text.py` reads these another way.
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
"""Collections in collections: the parser in Python reads a few times as many by recursion, and refuses more."""

MOST_BRACKETS = 2000
"""That may begin a collection: composing each in another one crashes libyaml's composer at twice as many or more."""

_BRACKET = Regex(r"[\[{](?<![^\s\[{,:?-][\[{])")
_INDENTED = Regex(rf"[\n\r\x85\u2028\u2029][ ?:-]{{{DEEPEST}}}")
"""Collections without brackets begin in different columns, with nothing but this before them in their line."""


class NotPlainError(Exception):
    """The text has to be read another way."""


class Plain(Struct, frozen=True):
    """A mapping: its node, its values, and the tags of those that are no texts."""

    root: yaml.MappingNode
    values: dict[str, Any]
    tags: frozenset[str]


def read_plain(text: str, list_key: str = "") -> Plain:
    """A text that is a mapping, or with a `list_key` a list, which stands for a mapping with this key alone.

    Raises:
        NotPlainError: It is neither, or not plain.
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
    """A mapping with a list under a key."""
    name = yaml.ScalarNode(TEXT, key, root.start_mark, root.start_mark)
    return yaml.MappingNode(MAPPING, [(name, root)], root.start_mark, root.end_mark)


def with_texts(plain: Plain, tags: Collection[str]) -> dict[str, Any]:
    """The values, where those of some tags are what their author wrote."""
    if plain.tags.isdisjoint(tags):
        return plain.values
    found: dict[str, Any] = _Reader(tags).value(plain.root)
    return found


def _compose(text: str) -> yaml.Node | None:
    if not yaml.__with_libyaml__ or yaml_nodes.may_repeat(text):  # aliases of aliases could fill any memory
        raise NotPlainError
    if yaml_nodes.is_read_unlike(text) or not _is_small(text):
        raise NotPlainError
    try:
        return _loader(text).get_single_node()
    except (yaml.YAMLError, UnicodeEncodeError):
        raise NotPlainError from None


def _is_small(text: str) -> bool:
    """Whether there are no more values, nor collections in each other, than libyaml's composer should be given.

    There are at most two values for each character that can stand before one.
    """
    if 2 * sum(map(text.count, ":?-,[{")) >= yaml_nodes.LARGEST_VALUE:
        return False
    if max(map(len, text.splitlines()), default=0) >= DEEPEST and _INDENTED.search(f"\n{text}"):
        return False
    return text.count("[") + text.count("{") <= MOST_BRACKETS or len(_BRACKET.findall(text)) <= MOST_BRACKETS


def _loader(text: str) -> yaml.CSafeLoader:
    """A loader for one text, which finds the tag of what stands there often, as keys do, only once."""
    loader: Any = yaml.CSafeLoader(text)
    loader.resolve = cache(yaml.resolver.Resolver().resolve)  # not its own one: it would refer to itself
    loader.descend_resolver = loader.ascend_resolver = "".format  # does nothing: there are no tags by paths
    return loader  # type: ignore[no-any-return]


class _Reader:
    """Makes values of nodes; those of some tags stay texts. `read` has those that are none."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = texts
        self._loader: Any = yaml_nodes.loader(())("")  # it has nothing to read: it makes values of nodes
        self.read: dict[tuple[str, str], object] = {}

    def value(self, node: Any, depth: int = 0) -> Any:  # noqa: ANN401 (YAML has values of any type)
        """The value of a node that is no text."""
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
        if len(found) < len(node.value):  # a key stands there again
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
