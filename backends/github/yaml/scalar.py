"""Strings as YAML scalars with the same value in YAML 1.1, YAML 1.2 and GitHub's expressions."""

import json
import re

from backends.common import remarks
from compiler.text.regex import Regex

OPEN = "${{"
LITERAL_OPEN = "${{ '${{' }}"
"""An expression whose value is the start of an expression."""

LARGEST_PLAIN = 200_000
"""The most characters of a text with the usual indentation. A program with less fits GitHub's limit of a file."""

# Words that YAML 1.1 or 1.2 doesn't read as strings, in any letter case.
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_PLAIN = Regex(r"(?:[A-Za-z/]|\d[\d.]*\.? [A-Za-z])(?:[ -~]*[!-9;-~])?")
_PLAIN_EXPRESSION = Regex(r"\$\{\{[ -~]*\}\}[!-~]*|[A-Za-z0-9][A-Za-z0-9.-]*")
_JOINER = "\u200d"  # does not print, but is part of some emoji


class Alias(str):
    """A reference to a value that is written elsewhere in the file, or that value with its anchor."""

    __slots__ = ()


class Expression(str):
    """A string that contains a GitHub expression on purpose."""

    __slots__ = ()


def evaluated(expression: str) -> Expression:
    """Return an expression for its value."""
    return Expression(f"${{{{ {expression} }}}}")


def scalar(text: str, indent: int = 0, *, code: bool = False) -> str:
    """Return a string as a scalar after a key. Lines of a block start with `indent` spaces.

    An `Expression` is kept. In any other string, `${{` has no special meaning. Code prefers a block to quotes.
    """
    if isinstance(text, Alias):
        return text
    if isinstance(text, Expression):
        if _PLAIN_EXPRESSION.fullmatch(text) and ": " not in text and " #" not in text:
            return folded(text, indent)
    else:
        text = text.replace(OPEN, LITERAL_OPEN)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS and ": " not in text and " #" not in text:
        return text
    if ("\n" in text or code) and _fits_block(text):
        is_program = len(text) > LARGEST_PLAIN
        hint, margin = ("1", " " * (indent - 1)) if is_program else ("2" * text.startswith(" "), " " * indent)
        body = text.rstrip("\n")
        ends = len(text) - len(body)
        chomp = "-" if ends == 0 else "" if ends == 1 else "+"
        lines = [f"{margin}{line}" if line else "" for line in text.split("\n")]
        if ends:
            lines.pop()
        return f"|{hint}{chomp}\n" + "\n".join(lines)
    if prints(text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(_escaped(character) for character in text) + '"'


def folded(expression: str, indent: int, width: int = 100) -> str:
    """Return an expression, in a folded block with breaks after `||` and `&&` if it is long."""
    if len(expression) <= width:
        return expression
    lines = [""]
    for part in re.split(r"(?<=\|\|) |(?<=&&) ", expression):
        if lines[-1] and len(lines[-1]) + len(part) >= width:
            lines.append(part)
        else:
            lines[-1] = f"{lines[-1]} {part}".strip()
    return ">-\n" + "\n".join(" " * indent + line for line in lines)


def _fits_block(text: str) -> bool:
    """Return whether a literal block can contain a string: its first line must show the indentation."""
    lines = text.split("\n")
    return bool(lines[0].strip()) and not lines[0].startswith("\t") and all(prints(line) for line in lines)


def prints(text: str) -> bool:
    """Return whether all characters are visible, so that a reviewer sees what runs."""
    return text.replace("\t", "").replace(_JOINER, "").isprintable()


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
    """Return quoted strings with an escape for each character that does not print."""
    return "".join(character if character.isprintable() else _escaped(character) for character in quoted)


def label(text: str, longest: int = 120) -> str:
    """Return a string as a name for people: one line, limited length, no expression."""
    words = " ".join(text.split()).replace(OPEN, "$ {{")
    return words if len(words) <= longest else words[: longest - 1] + "…"


def comment(text: str, longest: int = 200) -> str:
    """Return a string for a comment in YAML or in a script: one line, no expression."""
    return remarks.comment(text.replace(OPEN, "$ {{"), longest)


def shell_scalar(template: str) -> str:
    """Return a shell template as a scalar: rdc's own are plain, others may need quotes."""
    return template if template.startswith("bash -c ") else scalar(template)


FILTERS = (comment, folded, scalar, shell_scalar)
