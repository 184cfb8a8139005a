"""Explain PyYAML's errors to authors: the problem, the remedy, and the line to look at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from compiler.regex import Regex
from compiler.yaml_text import REMEDY

if TYPE_CHECKING:
    from yaml import Mark, MarkedYAMLError

QUOTE = "put the value in quotes"


class Told(Struct, frozen=True):
    """A problem, its remedy, and the mark of the line to look at, or None for the first line."""

    problem: str
    remedy: str
    mark: Mark | None


class _Rule(Struct, frozen=True):
    """A PyYAML problem, recognized by its words and those of its context, and rdc's words for it.

    In the problem and remedy, `{0}` is the part of PyYAML's words in parentheses. With `opening`, the diagnostic is at
    the line where the unreadable part starts.
    """

    problem: str
    told: str
    remedy: str
    context: str = ""
    opening: bool = False


_INDENT = "indent this line like the other keys or items of its list or mapping"
_RULES = tuple(
    (Regex(rule.problem), rule)
    for rule in (
        _Rule(r"character '\\t'", "there is a tab in the indentation", "indent with spaces: YAML allows no tabs here"),
        _Rule(r"character '(.+)' that cannot", "a value cannot start with `{0}`", QUOTE),
        _Rule(r"unexpected end of stream", "the quote in this line is not closed", "close it", "", True),
        _Rule(r"unknown escape character '(.+)'", r"`\{0}` has no meaning in double quotes", r"write `\\{0}`, or '…'"),
        _Rule(r"escape sequence of", "an escape in double quotes is missing digits", "write `\\\\` for a backslash"),
        _Rule(r"sequence entries", "a list cannot start on the line of its key", "start it on the next line: `- …`"),
        _Rule(r"could not find expected ':'", "this line is not `key: value`", "add a colon and a value", "", True),
        _Rule(r"<block end>.*'<block (?:mapping|sequence) start>'", "this line is indented differently", _INDENT),
        _Rule(r"<block end>.*'<scalar>'", "there is text after the closing quote", "quote the whole value once"),
        _Rule(r"<block end>.*'-'", "expected a key, found a list item", "indent the item below the key of its list"),
        _Rule(r"<block end>.*'\?'", "expected a list item, found a key", "indent the key like those of the item above"),
        _Rule(r"expected ',' or '([]}])'", "this bracket is not closed", "add `{0}`, or quote the value", "", True),
        _Rule(r"content, but found '(.)'", "a value cannot start with `{0}`", QUOTE),
        _Rule(r"<block end>.*'([]}])'", "`{0}` has no matching bracket", "remove it, or put the value in quotes"),
        _Rule(r"undefined alias '(.+)'", "there is no anchor for `*{0}`", QUOTE),
        _Rule(r"alphabetic", "a value cannot start with `*` here", QUOTE, "while scanning an alias"),
        _Rule(r"alphabetic", "a value cannot start with `&` here", QUOTE, "while scanning an anchor"),
        _Rule(
            r"2002:merge'|for merging", "`<<` needs a mapping inside a mapping", "write an alias of a mapping after it"
        ),
        _Rule(r"constructor for the tag '(.+)'", "rdc does not support the tag `{0}`", "remove it, or quote the value"),
        _Rule(r"second occurrence", "two values have the same anchor", "rename this anchor (`&…`)"),
        _Rule(r"comment or a line break|chomping", "there is text after `|` or `>`", "start the text on the next line"),
        _Rule(r"another document", "a second document starts here", "remove the line `---`, or use two files"),
        _Rule(r"<document start>", "there is text after the end of the document", "remove it, or put it inside"),
        _Rule(
            r"unhashable key",
            "a key cannot be a list or a mapping",
            'put values that start with a brace or bracket in quotes: `"{{…}}"`',
        ),
        _Rule(r"mapping keys are not", "a value cannot start with `?`", QUOTE),
    )
)


def explain(error: MarkedYAMLError, line: str) -> Told:
    """Return the explanation of a PyYAML error; `line` is the text of the line that it is about."""
    problem, context = error.problem or "", error.context or ""
    here = error.problem_mark or error.context_mark
    if re.match(r"\s*-[^\s-]", line) and "<block end>" in problem:
        return Told("a list item has no space after its dash", f"write `- {line.strip()[1:40].strip()}`", here)
    if problem.startswith("mapping values"):
        return _second_colon(line, here)
    for pattern, rule in _RULES:
        if (match := pattern.search(problem)) and context.startswith(rule.context):
            part = match[1] if match.groups() else ""
            mark = error.context_mark if rule.opening and error.context_mark else here
            return Told(rule.told.replace("{0}", part), rule.remedy.replace("{0}", part), mark)
    return Told(problem or "cannot read this", REMEDY, here)


def _second_colon(line: str, mark: Mark | None) -> Told:
    """Distinguish a value that contains a colon from a key below a line with a value or without a colon."""
    before = line[: mark.column] if mark else ""
    if re.search(r":\s", before):
        key, _, value = line.strip().lstrip("- ").partition(":")
        quoted = value.strip().replace("\\", "\\\\").replace('"', '\\"')
        example = f'`{key}: "{quoted}"`' if len(line) <= 80 else f'`{key}: "…"`'
        return Told("the value contains a second `: `", f"put the value in quotes: {example}", mark)
    problem = "this key is not valid after the line above it"
    remedy = "indent it like the keys above, and check that the line above is `key: value` with a space after the colon"
    return Told(problem, remedy, mark)
