"""What PyYAML's errors mean to the author of a document: the problem, the remedy, and the line to look at."""

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
    """A problem, what to do about it, and the mark of the line to look at, None for the first line."""

    problem: str
    remedy: str
    mark: Mark | None


class _Rule(Struct, frozen=True):
    """Which problem of PyYAML it is, by its words and those of its context, and what rdc says instead.

    In both texts `{0}` is the part of PyYAML's words in parentheses. `opening` points at the line where the part begins
    that could not be read.
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
        _Rule(r"character '\\t'", "a tab is in the indentation", "indent with spaces: YAML allows no tabs there"),
        _Rule(r"character '(.+)' that cannot", "a value cannot begin with `{0}`", QUOTE),
        _Rule(r"unexpected end of stream", "the quotation mark in this line is never closed", "close it", "", True),
        _Rule(r"unknown escape character '(.+)'", r"`\{0}` has no meaning in double quotes", r"write `\\{0}`, or '…'"),
        _Rule(r"escape sequence of", "an escape in double quotes lacks its digits", "write `\\\\` for a backslash"),
        _Rule(r"sequence entries", "a list cannot begin in the line of its key", "begin it in the next line: `- …`"),
        _Rule(r"could not find expected ':'", "this line is no `key: value`", "add a colon and a value", "", True),
        _Rule(r"<block end>.*'<block (?:mapping|sequence) start>'", "this line is indented differently", _INDENT),
        _Rule(r"<block end>.*'<scalar>'", "text follows the closing quotation mark", "quote the whole value once"),
        _Rule(r"<block end>.*'-'", "a list item is where a key belongs", "indent the item below the key of its list"),
        _Rule(
            r"<block end>.*'\?'", "a key is where a list item belongs", "indent the key like those of the item above"
        ),
        _Rule(
            r"expected ',' or '([]}])'", "the bracket that opens here is not closed", "add `{0}`, or quote", "", True
        ),
        _Rule(r"content, but found '(.)'", "a value cannot begin with `{0}`", QUOTE),
        _Rule(r"<block end>.*'([]}])'", "`{0}` closes nothing", "remove it, or put the value in quotes"),
        _Rule(r"undefined alias '(.+)'", "`*{0}` names an anchor that does not exist", QUOTE),
        _Rule(r"alphabetic", "a value cannot begin with `*` here", QUOTE, "while scanning an alias"),
        _Rule(r"alphabetic", "a value cannot begin with `&` here", QUOTE, "while scanning an anchor"),
        _Rule(
            r"2002:merge'|for merging", "`<<` wants a mapping inside a mapping", "write an alias of a mapping after it"
        ),
        _Rule(
            r"constructor for the tag '(.+)'", "`{0}` is a tag that rdc does not read", "remove it, or quote the value"
        ),
        _Rule(r"second occurrence", "two values have the same anchor", "give this anchor (`&…`) another name"),
        _Rule(r"comment or a line break|chomping", "text follows `|` or `>`", "begin the text in the next line"),
        _Rule(r"another document", "a second document begins here", "remove the line `---`, or use two files"),
        _Rule(r"<document start>", "text follows the end of the document", "remove it, or put it inside"),
        _Rule(
            r"unhashable key",
            "a key is itself a list or a mapping",
            'put values that begin with a brace or bracket in quotes: `"{{…}}"`',
        ),
        _Rule(r"mapping keys are not", "a value cannot begin with `?`", QUOTE),
    )
)


def explain(error: MarkedYAMLError, line: str) -> Told:
    """Return what an error of PyYAML means; `line` is the text of the line that it points at."""
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
    return Told(problem or "it cannot be read", REMEDY, here)


def _second_colon(line: str, mark: Mark | None) -> Told:
    """Tell a value with a colon in it from a key below a line that has a value or no colon."""
    before = line[: mark.column] if mark else ""
    if re.search(r":\s", before):
        key, _, value = line.strip().lstrip("- ").partition(":")
        quoted = value.strip().replace("\\", "\\\\").replace('"', '\\"')
        example = f'`{key}: "{quoted}"`' if len(line) <= 80 else f'`{key}: "…"`'
        return Told("the value has a second `: ` in it", f"put the value in quotes: {example}", mark)
    problem = "this key cannot follow the line above it"
    remedy = "indent it like the keys above, or check that the line above is `key: value` with a space after the colon"
    return Told(problem, remedy, mark)
