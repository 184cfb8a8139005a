"""Compose YAML nodes with libyaml if PyYAML's Python parser reads the text in the same way, otherwise with that parser.

Only the safe loader is used, keys are the strings as written, and the number of values is limited.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from compiler.regex import Regex

if TYPE_CHECKING:
    from yaml import CollectionNode, Event, MappingNode, Node, SafeLoader

TEXT, MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
SEQUENCE, MAPPING = "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"
INTEGER, FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"

LARGEST_VALUE = 100_000
"""The most values of a document, including values that aliases repeat: nested aliases could fill any memory."""

_READ_UNLIKE = {"\t": None, "\ufeff": None, "!": Regex(r"!(?<![^\s\[{,:?-]!)"), "#": Regex(r"[|>][0-9+-]*#")}
"""Texts that libyaml and PyYAML's Python parser may read differently, apart from the cases in `is_alike`.

They are about tabs, byte-order marks, tags, and comments directly after `|`. Most texts don't have these characters.
"""

LONGEST_NUMBER = 1000
"""The longest number in characters: Python is slow with longer ones and refuses to print them."""


def may_repeat(text: str) -> bool:
    """Return whether a text may have aliases."""
    return "*" in text and "&" in text


def is_read_unlike(text: str) -> bool:
    """Return whether libyaml may read a text differently from PyYAML's Python parser."""
    return any(
        character in text and (pattern is None or pattern.search(text) is not None)
        for character, pattern in _READ_UNLIKE.items()
    )


class TooLargeError(Exception):
    """The text has too many values; the argument is the number of line breaks before the first surplus value."""


class _Bounded:
    """A mixin that stops a loader at too many values, because reading them all takes long."""

    composed = 0
    peek_event: Callable[[], Event]

    def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401 (PyYAML's signature)
        """Read a value, unless it is one too many."""
        self.composed += 1
        if self.composed > LARGEST_VALUE:
            mark = self.peek_event().start_mark
            raise TooLargeError(mark.line if mark else 0)
        return super().compose_node(parent, index)  # type: ignore[misc] # it is mixed into a loader

    def compose_mapping_node(self, anchor: Any) -> MappingNode:  # noqa: ANN401 (PyYAML's signature)
        """Read a mapping with all keys as strings."""
        node: MappingNode = super().compose_mapping_node(anchor)  # type: ignore[misc] # as above
        node.value = [(as_text(key), value) for key, value in node.value]
        return node


def as_text(key: Node) -> Node:
    """Return a key as the string in the document."""
    import yaml  # noqa: PLC0415 (few documents have YAML, and importing it takes time)

    if not isinstance(key, yaml.ScalarNode) or key.tag in (TEXT, MERGE):
        return key
    return yaml.ScalarNode(TEXT, key.value, key.start_mark, key.end_mark)


def is_alike(node: CollectionNode) -> bool:
    """Return whether PyYAML's Python parser composes a collection in the same way as libyaml.

    They differ in empty items of `[…]` and `{…}`, and in strings with `?` there.
    """
    import yaml  # noqa: PLC0415 (as above)

    if not node.flow_style:
        return True
    parts = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    return not any(
        isinstance(part, yaml.ScalarNode) and not part.style and (not part.value or "?" in part.value) for part in parts
    )


@cache
def loader(texts: tuple[str, ...]) -> type[SafeLoader]:
    """Return the safe loader that reads values of these tags as strings."""
    import yaml  # noqa: PLC0415 (as above)

    class Loader(_Bounded, yaml.SafeLoader):
        def construct_number(self, node: Any) -> int | float:  # noqa: ANN401 (PyYAML's signature)
            if len(node.value) > LONGEST_NUMBER:
                raise ValueError("a number that is too long")
            return self.construct_yaml_int(node) if node.tag == INTEGER else self.construct_yaml_float(node)

        def construct_text(self, node: Any) -> str:  # noqa: ANN401 (PyYAML's signature)
            return str(self.construct_scalar(node))

    for tag in (INTEGER, FLOAT):
        Loader.add_constructor(tag, Loader.construct_number)
    for tag in texts:
        Loader.add_constructor(tag, Loader.construct_text)
    return Loader


def compose(text: str) -> Node | None:
    """Return the nodes of a text from libyaml, which is several times faster, or else from the Python parser.

    Errors always come from the Python parser, because rdc explains its messages.
    """
    import yaml  # noqa: PLC0415 (as above)

    if yaml.__with_libyaml__ and not is_read_unlike(text):
        from compiler import yaml_composer  # noqa: PLC0415 (it imports PyYAML)

        with suppress(yaml.YAMLError, UnicodeEncodeError):
            return yaml_composer.compose(text)
    return loader(())(text).get_single_node()


def value(loader: SafeLoader, node: Node) -> Any:  # noqa: ANN401 (YAML has values of any type)
    """Return the value of a node without aliases, three times faster than PyYAML, which prepares for them."""
    if node.tag == TEXT:
        return node.value
    if node.tag == SEQUENCE:
        return [value(loader, item) for item in node.value]
    if node.tag == MAPPING and all(key.tag == TEXT for key, _ in node.value):
        return {key.value: value(loader, item) for key, item in node.value}
    return loader.construct_object(node, deep=True)
