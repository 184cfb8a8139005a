"""Explain PyYAML's errors to authors: the problem, the remedy, and the line to look at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compiler.regex import Regex
from compiler.source import Lines
from compiler.yaml_text import REMEDY, UnreadableError

if TYPE_CHECKING:
    from yaml import MarkedYAMLError

QUOTE = "put the value in quotes"
_INDENT = "indent this line like the other keys or items of its list or mapping"
_OPENING = Regex(r"unexpected end of stream|could not find expected ':'|expected ',' or")
"""Problems that are explained at the line where the unreadable part starts."""

_RULES = (
    (r"character '\\t'", "there is a tab in the indentation", "indent with spaces: YAML allows no tabs here"),
    (r"character '(.+)' that cannot", "a value cannot start with `{0}`", QUOTE),
    (r"unexpected end of stream", "the quote in this line is not closed", "close it"),
    (r"unknown escape character '(.+)'", r"`\{0}` has no meaning in double quotes", r"write `\\{0}`, or '…'"),
    (r"escape sequence of", "an escape in double quotes is missing digits", "write `\\\\` for a backslash"),
    (r"sequence entries", "a list cannot start on the line of its key", "start it on the next line: `- …`"),
    (r"could not find expected ':'", "this line is not `key: value`", "add a colon and a value"),
    (r"<block end>.*'<block (?:mapping|sequence) start>'", "this line is indented differently", _INDENT),
    (r"<block end>.*'<scalar>'", "there is text after the closing quote", "quote the whole value once"),
    (r"<block end>.*'-'", "expected a key, found a list item", "indent the item below the key of its list"),
    (r"<block end>.*'\?'", "expected a list item, found a key", "indent the key like those of the item above"),
    (r"expected ',' or '([]}])'", "this bracket is not closed", "add `{0}`, or quote the value"),
    (r"content, but found '(.)'", "a value cannot start with `{0}`", QUOTE),
    (r"<block end>.*'([]}])'", "`{0}` has no matching bracket", "remove it, or put the value in quotes"),
    (r"undefined alias '(.+)'", "there is no anchor for `*{0}`", QUOTE),
    (r"scanning an alias.*alphabetic", "a value cannot start with `*` here", QUOTE),
    (r"scanning an anchor.*alphabetic", "a value cannot start with `&` here", QUOTE),
    (r"2002:merge'|for merging", "`<<` needs a mapping inside a mapping", "write an alias of a mapping after it"),
    (r"constructor for the tag '(.+)'", "rdc does not support the tag `{0}`", "remove it, or quote the value"),
    (r"second occurrence", "two values have the same anchor", "rename this anchor (`&…`)"),
    (r"comment or a line break|chomping", "there is text after `|` or `>`", "start the text on the next line"),
    (r"another document", "a second document starts here", "remove the line `---`, or use two files"),
    (r"<document start>", "there is text after the end of the document", "remove it, or put it inside"),
    (
        r"unhashable key",
        "a key cannot be a list or a mapping",
        'put values that start with a brace or bracket in quotes: `"{{…}}"`',
    ),
    (r"recursive node", "a value contains itself", "remove the alias (`*…`) inside it"),
    (r"mapping keys are not", "a value cannot start with `?`", QUOTE),
)
"""Patterns of PyYAML's words, context first, and rdc's words for them, in which `{0}` is the part in parentheses."""


def explain(error: MarkedYAMLError, lines: Lines) -> UnreadableError:
    """Return the error for a PyYAML error, in rdc's words."""
    problem, here = error.problem or "", error.problem_mark or error.context_mark
    at = lines.number(here.index) if here else lines.first
    line = lines.text(at)
    if re.match(r"\s*-[^\s-]", line) and "<block end>" in problem:
        return UnreadableError("a list item has no space after its dash", at, f"write `- {line.strip()[1:40].strip()}`")
    if problem.startswith("mapping values"):
        return UnreadableError(*_second_colon(line, line[: here.column] if here else "", at))
    if error.context_mark and _OPENING.search(problem):
        at = lines.number(error.context_mark.index)
    for pattern, told, remedy in _RULES:
        if match := re.search(pattern, f"{error.context or ''}\0{problem}"):
            part = match[1] if match.groups() else ""
            return UnreadableError(told.replace("{0}", part), at, remedy.replace("{0}", part))
    return UnreadableError(problem or "cannot read this", at, REMEDY)


def _second_colon(line: str, before: str, at: int) -> tuple[str, int, str]:
    """Distinguish a value that contains a colon from a key below a line with a value or without a colon."""
    if re.search(r":\s", before):
        key, _, value = line.strip().lstrip("- ").partition(":")
        quoted = value.strip().replace("\\", "\\\\").replace('"', '\\"')
        example = f'`{key}: "{quoted}"`' if len(line) <= 80 else f'`{key}: "…"`'
        return "the value contains a second `: `", at, f"put the value in quotes: {example}"
    problem = "this key is not valid after the line above it"
    remedy = "indent it like the keys above, and check that the line above is `key: value` with a space after the colon"
    return problem, at, remedy
