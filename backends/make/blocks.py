"""Texts of a document in `define` blocks, which the driver reads out of the Makefile byte for byte.

Make reads the blocks too, and has to find the same ends. A text in which it would not, or that would steer the terminal
of who reads the file, stands there with escapes, in a block whose name says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backends.shell.quoting import quoted
from compiler.regex import Regex

LONGEST_WORD = 1000
"""Texts that are longer stand in a block of their own, not where a word of the shell is."""

NOTHING = "$()"
"""What make expands to nothing."""

_OF_MAKE = Regex(r"^[\s\x00-\x20]*(define|endef)\b", re.MULTILINE)
_CONTROLS = Regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def is_carried(text: str) -> bool:
    """Return whether make and awk both find the end of a block with this text, and a terminal shows it as it is."""
    return prints(text) and not text.endswith("\\") and not ("def" in text and _OF_MAKE.search(text))


def prints(text: str) -> bool:
    """Return whether a terminal shows a text as it is."""
    # The first is sooner said, and true of most.
    return text.replace("\n", "").replace("\t", "").isprintable() or not _CONTROLS.search(text)


def recipe(text: str) -> str:
    """Return a line as it is in a recipe or an expanded block: an empty expansion keeps make from reading it.

    Make would run a line with $(MAKE) in it even where it only shows recipes.
    """
    escaped = re.sub(r"\$\$(?=[({]MAKE[)}])", f"$${NOTHING}", text.replace("$", "$$"))
    return f"{NOTHING if _OF_MAKE.match(text) else ''}{escaped}{NOTHING if text.endswith(chr(92)) else ''}"


def define(prefix: str, name: str, text: str) -> list[str]:
    """The block of a text, as it is or with escapes: its lines, those of the text in one piece."""
    if is_carried(text):
        head = [f"define {prefix}{name}"]
    else:
        head = [f"# With escapes (`\\0NNN` is a byte): {_why(text)}.", f"define {prefix}escaped_{name}"]
        text = _escaped(text)
    return [*head, text, "endef"] if text else [*head, "endef"]


def _why(text: str) -> str:
    if _OF_MAKE.search(text):
        return "make would take a line of this text for its own"
    return "make would go on after its last backslash" if text.endswith("\\") else "some of its characters do not print"


def _escaped(text: str) -> str:
    """A text as `printf %b` takes it."""
    text = _CONTROLS.sub(lambda found: _bytes(found[0]), text.replace("\\", _bytes("\\")))
    return _OF_MAKE.sub(
        lambda found: found[0][: found.start(1) - found.start()] + _bytes(found[1][0]) + found[1][1:], text
    )


def _bytes(characters: str) -> str:
    return "".join(f"\\0{byte:03o}" for byte in characters.encode("utf-8", "replace"))


class Words:
    """Texts as words of the shell within blocks; what cannot stand there as it is gets a block of its own."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._texts: dict[str, str] = {}

    def quoted(self, text: str, is_plain: bool = False) -> str:
        """A word that is this text; a plain one has no quotes if it needs none."""
        if is_plain and re.fullmatch(r"[A-Za-z0-9_.:/@%+=-]+", text):
            return text
        if text.isprintable() and "def" not in text and len(text) <= LONGEST_WORD:  # as most are
            return quoted(text)
        if is_carried(f"'{text}'") and "\n" not in text and len(text) <= LONGEST_WORD:
            return quoted(text)
        name = self._texts.setdefault(text, f"text_{len(self._texts) + 1}")
        return f'"$rdc_{name}"'

    def blocks(self) -> Iterator[str]:
        """The blocks of the texts that have one."""
        for text, name in self._texts.items():
            yield from define(self._prefix, name, text)
            yield ""
