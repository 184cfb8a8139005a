"""Compose the nodes of YAML text from libyaml's events.

PyYAML's C composer crashes on deeply nested text, and the Python composer requests each event three times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import yaml

from compiler import yaml_nodes
from compiler.yaml_nodes import MAPPING, SEQUENCE, TEXT, TooLargeError, as_text, is_alike

_SCALAR: Any = yaml.ScalarEvent
_ALIAS: Any = yaml.AliasEvent
"""Typed as Any, because libyaml's events have other types than typeshed declares."""

CollectionType = TypeVar("CollectionType", yaml.MappingNode, yaml.SequenceNode)


def compose(text: str) -> yaml.Node | None:
    """Return the root node of a text, or None if it is empty.

    Raises:
        TooLargeError: It has too many values.
        yaml.YAMLError: The Python parser reads the text differently, or reports a better error.
    """
    return _Composer(text).root()


class _Composer:
    def __init__(self, text: str) -> None:
        loader = yaml.CSafeLoader(text)
        self._event: Callable[[], Any] = loader.get_event
        self._resolve: Callable[..., str] = loader.resolve
        self._anchors: dict[str, yaml.Node] = {}
        self._count = 0

    def root(self) -> yaml.Node | None:
        """Return the root of the only document."""
        self._event()
        if isinstance(self._event(), yaml.StreamEndEvent):
            return None
        root = self._node(self._event())
        self._event()
        if not isinstance(self._event(), yaml.StreamEndEvent):
            raise yaml.YAMLError
        return root

    def _node(self, event: Any) -> yaml.Node:  # noqa: ANN401
        self._count += 1
        if self._count > yaml_nodes.LARGEST_VALUE:
            raise TooLargeError(event.start_mark.line)
        if isinstance(event, _SCALAR):
            tag = self._resolve(yaml.ScalarNode, event.value, event.implicit) if event.implicit[0] else TEXT
            node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark, event.style)
            return self._anchored(event, node) if event.anchor else node
        if isinstance(event, _ALIAS):
            if event.anchor not in self._anchors:
                raise yaml.YAMLError
            return self._anchors[event.anchor]
        return self._mapping(event) if isinstance(event, yaml.MappingStartEvent) else self._sequence(event)

    def _sequence(self, event: Any) -> yaml.SequenceNode:  # noqa: ANN401
        items: list[yaml.Node] = []
        node = yaml.SequenceNode(SEQUENCE, items, event.start_mark, None, event.flow_style)
        self._anchored(event, node)
        while not isinstance(inner := self._event(), yaml.SequenceEndEvent):
            items.append(self._node(inner))
        node.end_mark = inner.end_mark
        return self._alike(node)

    def _mapping(self, event: Any) -> yaml.MappingNode:  # noqa: ANN401
        pairs: list[tuple[yaml.Node, yaml.Node]] = []
        node = yaml.MappingNode(MAPPING, pairs, event.start_mark, None, event.flow_style)
        self._anchored(event, node)
        while not isinstance(inner := self._event(), yaml.MappingEndEvent):
            key = self._node(inner)
            pairs.append((as_text(key), self._node(self._event())))
        node.end_mark = inner.end_mark
        return self._alike(node)

    def _anchored(self, event: Any, node: yaml.Node) -> yaml.Node:  # noqa: ANN401
        if event.anchor:
            if event.anchor in self._anchors:
                raise yaml.YAMLError
            self._anchors[event.anchor] = node
        return node

    def _alike(self, node: CollectionType) -> CollectionType:
        if not is_alike(node):
            raise yaml.YAMLError
        return node
