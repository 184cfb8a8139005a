"""A document's strings in `define` blocks, which the driver reads byte by byte from the Makefile.

Make reads the blocks too, and must find the same ends. A string that would confuse make or the reader's terminal is
escaped, in a block with a different name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backends.templating import quoted
from compiler.regex import Regex

LONGEST_WORD = 1000
"""Longer strings get a separate block instead of a shell word."""

NOTHING = "$()"
"""make expands this to nothing."""

_OF_MAKE = Regex(r"^[\s\x00-\x20]*(define|endef)\b", re.MULTILINE)
_CONTROLS = Regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def is_carried(text: str) -> bool:
    """Return whether make and awk find the same end of a block, and a terminal shows the string unchanged."""
    return prints(text) and not text.endswith("\\") and not ("def" in text and _OF_MAKE.search(text))


def prints(text: str) -> bool:
    """Return whether a terminal shows a string unchanged."""
    # The first test is faster and mostly succeeds.
    return text.replace("\n", "").replace("\t", "").isprintable() or not _CONTROLS.search(text)


def recipe(text: str) -> str:
    """Return a line for a recipe or an expanded block, with empty expansions that keep make from interpreting it.

    Make would run a line that contains $(MAKE) even if it only prints recipes.
    """
    escaped = re.sub(r"\$\$(?=[({]MAKE[)}])", f"$${NOTHING}", text.replace("$", "$$"))
    return f"{NOTHING if _OF_MAKE.match(text) else ''}{escaped}{NOTHING if text.endswith(chr(92)) else ''}"


def define(prefix: str, name: str, text: str) -> list[str]:
    """Return the lines of a string's block, unchanged or escaped. The string is one item."""
    if is_carried(text):
        head = [f"define {prefix}{name}"]
    else:
        head = [f"# Escaped (`\\0NNN` is a byte): {_why(text)}.", f"define {prefix}escaped_{name}"]
        text = _escaped(text)
    return [*head, text, "endef"] if text else [*head, "endef"]


def _why(text: str) -> str:
    if _OF_MAKE.search(text):
        return "make would interpret a line of it"
    return "make would join lines at its last backslash" if text.endswith("\\") else "it has invisible characters"


def _escaped(text: str) -> str:
    """Escape a string for `printf %b`."""
    text = _CONTROLS.sub(lambda found: _bytes(found[0]), text.replace("\\", _bytes("\\")))
    return _OF_MAKE.sub(
        lambda found: found[0][: found.start(1) - found.start()] + _bytes(found[1][0]) + found[1][1:], text
    )


def _bytes(characters: str) -> str:
    return "".join(f"\\0{byte:03o}" for byte in characters.encode("utf-8", "replace"))


class Words:
    """Strings as shell words in blocks. A string that cannot be such a word gets a separate block."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._texts: dict[str, str] = {}

    def quoted(self, text: str, is_plain: bool = False) -> str:
        """Return a word with this string. A plain word has no quotes if it needs none."""
        if is_plain and re.fullmatch(r"[A-Za-z0-9_.:/@%+=-]+", text):
            return text
        if text.isprintable() and "def" not in text and len(text) <= LONGEST_WORD:  # true for most strings
            return quoted(text)
        if is_carried(f"'{text}'") and "\n" not in text and len(text) <= LONGEST_WORD:
            return quoted(text)
        name = self._texts.setdefault(text, f"text_{len(self._texts) + 1}")
        return f'"$rdc_{name}"'

    def blocks(self) -> Iterator[str]:
        """Yield the blocks of the strings that need one."""
        for text, name in self._texts.items():
            yield from define(self._prefix, name, text)
            yield ""
