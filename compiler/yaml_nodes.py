"""YAML as nodes: by libyaml where it reads a text as PyYAML's parser in Python does, else by that parser.

Only the safe loader is used, keys are the texts that are written, and there are at most so many values.
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
"""In values, those counted again that aliases repeat: a few lines of aliases of aliases could fill any memory."""

_READ_UNLIKE = {"\t": None, "\ufeff": None, "!": Regex(r"!(?<![^\s\[{,:?-]!)"), "#": Regex(r"[|>][0-9+-]*#")}
"""Where libyaml and PyYAML's parser in Python differ, or may, besides what `is_alike` finds.

That is over tabs, byte-order marks, tags, and comments right behind `|`. Most texts lack the character alone.
"""

LONGEST_NUMBER = 1000
"""In characters: Python takes its time for longer ones, and refuses to show them."""


def may_repeat(text: str) -> bool:
    """Whether there may be aliases in a text."""
    return "*" in text and "&" in text


def is_read_unlike(text: str) -> bool:
    """Whether libyaml may read a text in another way than PyYAML's parser in Python."""
    return any(
        character in text and (pattern is None or pattern.search(text) is not None)
        for character, pattern in _READ_UNLIKE.items()
    )


class TooLargeError(Exception):
    """The text has too many values; the argument is the number of line ends before the one that is too many."""


class _Bounded:
    """What makes a loader stop where a text has too many values: to read them all takes its time."""

    composed = 0
    peek_event: Callable[[], Event]

    def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401 (as PyYAML has it)
        """Read a value, unless it is one too many."""
        self.composed += 1
        if self.composed > LARGEST_VALUE:
            mark = self.peek_event().start_mark
            raise TooLargeError(mark.line if mark else 0)
        return super().compose_node(parent, index)  # type: ignore[misc] # it stands before a loader

    def compose_mapping_node(self, anchor: Any) -> MappingNode:  # noqa: ANN401 (as PyYAML has it)
        """Read a mapping, of which all keys are texts."""
        node: MappingNode = super().compose_mapping_node(anchor)  # type: ignore[misc] # as above
        node.value = [(as_text(key), value) for key, value in node.value]
        return node


def as_text(key: Node) -> Node:
    """A key as the text that is written."""
    import yaml  # noqa: PLC0415 (few documents have YAML, and importing it takes time)

    if not isinstance(key, yaml.ScalarNode) or key.tag in (TEXT, MERGE):
        return key
    return yaml.ScalarNode(TEXT, key.value, key.start_mark, key.end_mark)


def is_alike(node: CollectionNode) -> bool:
    """Whether PyYAML's parser in Python composes a collection as libyaml does.

    They differ over what is empty in `[…]` and `{…}`, and over texts with `?` there.
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
    """The safe loader for which values of these tags are texts."""
    import yaml  # noqa: PLC0415 (as above)

    class Loader(_Bounded, yaml.SafeLoader):
        def construct_number(self, node: Any) -> int | float:  # noqa: ANN401 (as PyYAML has it)
            if len(node.value) > LONGEST_NUMBER:
                raise ValueError("a number that is too long")
            return self.construct_yaml_int(node) if node.tag == INTEGER else self.construct_yaml_float(node)

        def construct_text(self, node: Any) -> str:  # noqa: ANN401 (as PyYAML has it)
            return str(self.construct_scalar(node))

    for tag in (INTEGER, FLOAT):
        Loader.add_constructor(tag, Loader.construct_number)
    for tag in texts:
        Loader.add_constructor(tag, Loader.construct_text)
    return Loader


def compose(text: str) -> Node | None:
    """The nodes of a text: by libyaml, which is several times as fast, unless the parser in Python has more to say.

    Where there is a problem, it has: its messages are those that are explained.
    """
    import yaml  # noqa: PLC0415 (as above)

    if yaml.__with_libyaml__ and not is_read_unlike(text):
        from compiler import yaml_composer  # noqa: PLC0415 (it imports PyYAML)

        with suppress(yaml.YAMLError, UnicodeEncodeError):
            return yaml_composer.compose(text)
    return loader(())(text).get_single_node()


def value(loader: SafeLoader, node: Node) -> Any:  # noqa: ANN401 (YAML has values of any type)
    """The value of a node without aliases, which PyYAML would take three times as long for: it is ready for these."""
    if node.tag == TEXT:
        return node.value
    if node.tag == SEQUENCE:
        return [value(loader, item) for item in node.value]
    if node.tag == MAPPING and all(key.tag == TEXT for key, _ in node.value):
        return {key.value: value(loader, item) for key, item in node.value}
    return loader.construct_object(node, deep=True)
