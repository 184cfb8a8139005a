"""Commands and texts of a document as recipes and `define` blocks, in which make changes nothing (T-1)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compiler.text.regex import Regex

EMPTY = "$(RDC_E)"
"""make expands this to nothing."""

_BACKSLASH = "$(RDC_B)"

_RETURN = "$(RDC_CR)"

_NAMES = {EMPTY: "RDC_E :=", _BACKSLASH: "RDC_B := \\$(RDC_E)", _RETURN: "RDC_CR := $(shell printf '\\r')"}

_OF_MAKE = Regex(r"\s*(?:define|endef)\b")

_CONTROLS = Regex(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)

# One line of a command whose quotes all end on it, so that the line break after it is the shell's. Substitutions in
# double quotes may have strings, but no substitutions with strings of their own.
_INNER = r"""\$\((?:[^()"'`\\]|"[^()"`\\]*")*\)|\$\{[^{}"'`\\]*\}"""

_STRING = rf'"(?:[^"\\`$]|\\.|\$(?![({{])|{_INNER})*"'

_JOINED = Regex(r"(?:.*[^\\&|])?(?:&&|\|\|?)\s*")

_WHOLE = Regex(rf"(?:[^'\"\\`#<]|(?<=[^\s;&|()])#|<(?!<)|'[^']*'|{_STRING}|\\.)*")


def prints(text: str) -> bool:
    """Return whether a reviewer and a terminal see all characters of a string."""
    # The first test is faster and mostly succeeds.
    return text.replace("\n", "").replace("\t", "").isprintable() or not _CONTROLS.search(text)


def escaped(text: str) -> str:
    """Return a string that make expands to itself."""
    return text.replace("$", "$$")


def assigned(text: str) -> str:
    """Return an escaped line as the value of a variable. Its spaces at the start are lost."""
    shown = re.sub(r"(\\*)#", lambda found: f"{found[1] * 2}\\#", text)
    return f"{shown[:-1]}{_BACKSLASH}" if shown.endswith("\\") else shown


def recipe(command: str) -> list[str] | None:
    """Return the recipe lines of an escaped command, or None if only a block keeps it unchanged.

    Each line break must follow `&&`, `||` or `|`, where a backslash changes nothing for the shell.
    """
    lines = command.split("\n")
    if not command.strip() or command[0] in "@-+ \t" or command.endswith("\\") or "\r" in command:
        return None
    if "$(MAKE)" in command or "${MAKE}" in command:
        return None
    if not all(_JOINED.fullmatch(line) and _WHOLE.fullmatch(line) for line in lines[:-1]):
        return None
    return [*(f"\t{line.rstrip()} \\" for line in lines[:-1]), f"\t{lines[-1]}"]


def usual(shells: Sequence[str]) -> str:
    """Return the shell of most commands."""
    return max(sorted(set(shells)), key=shells.count, default="sh")


def block(name: str, text: str) -> list[str]:
    """Return the lines of a `define` block with an escaped text."""
    return [f"define {name}", *map(_line, text.split("\n")), "endef"]


def _line(line: str) -> str:
    """Return a line of a block, which make must not end, nest or join."""
    line = line.replace("\r", _RETURN)
    if line.endswith("\\"):
        line = f"{line[:-1]}{_BACKSLASH}"
    return f"{EMPTY}{line}" if _OF_MAKE.match(line) else line


def definitions(lines: list[str]) -> list[str]:
    """Return the definitions of what some lines use instead of special characters."""
    text = "\n".join(lines)
    return [line for name, line in _NAMES.items() if name in text]
