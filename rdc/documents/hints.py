"""Keys and values that fit a position in frontmatter, in YAML or in `rdc.toml`, and their descriptions."""

from __future__ import annotations

from msgspec import Struct

from compiler.driver import Opened, Settings
from compiler.frontends.common.marks import Kind
from compiler.text.source import KeyPath, Span


class Choice(Struct, frozen=True):
    """A key or value that fits: its text as it belongs into the document, such as `timeout: `, and its description."""

    name: str
    text: str
    description: str = ""


class Hints(Struct, frozen=True):
    """The key or value at a position.

    Attributes:
        path: The key path, such as `("steps", "0", "agent")`. The last part is the unfinished key, which may be "".
        span: The whole word at the position, which a choice replaces; empty if there is none.
        is_key: Whether the word is a key, not a value.
        description: The description of the key, or "".
        choices: The keys or values that fit, without keys that the mapping already has.
        names: The kind of marks whose names fit here as well, such as steps for `goto`, or None.
    """

    path: KeyPath
    span: Span
    is_key: bool
    description: str = ""
    choices: tuple[Choice, ...] = ()
    names: Kind | None = None


def hints_at(opened: Opened, settings: Settings, line: int, column: int) -> Hints | None:
    """Return the hints for a position, or None outside of frontmatter, YAML and `rdc.toml`; never raises."""
    raise NotImplementedError
