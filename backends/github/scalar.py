"""Texts as YAML scalars that mean just these texts: to YAML 1.1, to YAML 1.2, and to GitHub's expressions."""

from __future__ import annotations

import json
import re

from backends import remarks
from compiler.regex import Regex

OPEN = "${{"
LITERAL_OPEN = "${{ '${{' }}"
"""An expression whose value is what would open an expression."""

# What YAML 1.1 or 1.2 reads as something else than a text, in any case of the letters.
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_PLAIN = Regex(r"(?:[A-Za-z/]|\d[\d.]*\.? [A-Za-z])(?:[ -~]*[!-9;-~])?")
_PLAIN_EXPRESSION = Regex(r"\$\{\{[ -~]*\}\}[!-~]*|[A-Za-z0-9][A-Za-z0-9.-]*")
_JOINER = "\u200d"  # does not print, but emoji are made with it


class Expression(str):
    """A text that holds a GitHub expression on purpose."""

    __slots__ = ()


def scalar(text: str, indent: int = 0, *, code: bool = False) -> str:
    """A text as a scalar that stands after a key; the lines of a block have `indent` spaces before them.

    An `Expression` is kept, in any other text `${{` stands for itself. Code is rather put into a block than quoted.
    """
    if isinstance(text, Expression):
        if _PLAIN_EXPRESSION.fullmatch(text) and ": " not in text and " #" not in text:
            return folded(text, indent)
    else:
        text = text.replace(OPEN, LITERAL_OPEN)
    if _is_plain(text):
        return text
    if ("\n" in text or code) and _fits_block(text):
        return _block(text, indent)
    if prints(text):
        return "'" + text.replace("'", "''") + "'"
    return _quoted(text)


def folded(expression: str, indent: int, width: int = 100) -> str:
    """An expression, in a folded block with breaks after `||` and `&&` if it is long."""
    if len(expression) <= width:
        return expression
    lines = [""]
    for part in re.split(r"(?<=\|\|) |(?<=&&) ", expression):
        if lines[-1] and len(lines[-1]) + len(part) >= width:
            lines.append(part)
        else:
            lines[-1] = f"{lines[-1]} {part}".strip()
    return ">-\n" + "\n".join(" " * indent + line for line in lines)


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS and ": " not in text and " #" not in text


def _fits_block(text: str) -> bool:
    """Whether a literal block can hold a text: its first line must show the indentation."""
    lines = text.split("\n")
    return bool(lines[0].strip()) and not lines[0].startswith("\t") and all(prints(line) for line in lines)


def prints(text: str) -> bool:
    """Whether all of a text can be seen, so that what a reviewer sees is what runs."""
    return text.replace("\t", "").replace(_JOINER, "").isprintable()


def _block(text: str, indent: int) -> str:
    hint = "2" if text.startswith(" ") else ""
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    chomp = "-" if ends == 0 else "" if ends == 1 else "+"
    lines = [f"{' ' * indent}{line}" if line else "" for line in text.split("\n")]
    if ends:
        lines.pop()
    return f"|{hint}{chomp}\n" + "\n".join(lines)


def _quoted(text: str) -> str:
    """A double-quoted scalar in which all that does not print is an escape."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    if character in "\n\r\t":
        return json.dumps(character)[1:-1]
    code = ord(character)
    return f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"


def visible(quoted: str) -> str:
    """Quoted texts with an escape for each character that does not print, which YAML may not take as it is."""
    return "".join(character if character.isprintable() else _escaped(character) for character in quoted)


def label(text: str, longest: int = 120) -> str:
    """A text as a name for people: on one line, of a bearable length, and without what opens an expression."""
    words = " ".join(text.split()).replace(OPEN, "$ {{")
    return words if len(words) <= longest else words[: longest - 1] + "…"


def comment(text: str, longest: int = 200) -> str:
    """A text that can stand in a comment of YAML or of a script in it: one line, no expression."""
    return remarks.comment(text, longest).replace(OPEN, "$ {{")


def shell_scalar(template: str, indent: int = 10) -> str:
    """A shell template; those of rdc are plain scalars, others may need quotes, and a loader has several lines."""
    lines = getattr(template, "lines", ())
    if lines:
        return ">-\n" + "\n".join(f"{' ' * indent}{line}" for line in lines)
    return template if template.startswith("bash -c ") else scalar(template)
