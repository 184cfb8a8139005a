"""List the strings that a regular expression can match, if there are few (W9)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from re import _constants, _parser
from typing import Any

from msgspec import Struct

LONGEST_PATTERN = 2000
"""In characters. Longer patterns are an error (W3)."""

MOST = 64
"""A pattern with more alternatives isn't listed."""

MOST_CHARACTERS = 8
"""A larger character class isn't listed."""

MOST_REPEATED = 4

GAP = "\0"
"""Marks a part that can't be listed. No document contains this character."""


class Alternative(Struct, frozen=True):
    """A string that a pattern matches, and the text of its first capturing group, or None."""

    text: str
    group: str | None = None

    def then(self, other: Alternative) -> Alternative:
        """Return the concatenation of two alternatives."""
        return Alternative(self.text + other.text, other.group if self.group is None else self.group)


UNKNOWN: tuple[Alternative, ...] = (Alternative(GAP),)
EMPTY: tuple[Alternative, ...] = (Alternative(""),)


@lru_cache(maxsize=16)
def alternatives(pattern: str) -> tuple[Alternative, ...]:
    """Return every string that a valid pattern can match, with `GAP` for parts that can't be listed.

    Cached, because several rules ask for the same pattern.
    """
    with warnings.catch_warnings(action="ignore"):
        parsed = _parser.parse(pattern)
    try:
        return _sequence(parsed)
    except RecursionError:
        return UNKNOWN


def _sequence(parsed: Iterable[Any]) -> tuple[Alternative, ...]:
    found = EMPTY
    for operation, argument in parsed:
        found = _product(found, _READ.get(operation, _unknown)(argument))
    return found


def _product(first: Sequence[Alternative], second: Sequence[Alternative]) -> tuple[Alternative, ...]:
    if len(first) * len(second) > MOST:
        return UNKNOWN
    return tuple(dict.fromkeys(one.then(other) for one in first for other in second))


def _union(parts: Iterable[Iterable[Alternative]]) -> tuple[Alternative, ...]:
    found = dict.fromkeys(one for part in parts for one in part)
    return tuple(found) if len(found) <= MOST else UNKNOWN


def _unknown(_: object) -> tuple[Alternative, ...]:
    return UNKNOWN


def _empty(_: object) -> tuple[Alternative, ...]:
    """Anchors and lookarounds consume nothing."""
    return EMPTY


def _literal(code: int) -> tuple[Alternative, ...]:
    return (Alternative(chr(code)),)


def _class(items: Sequence[tuple[Any, Any]]) -> tuple[Alternative, ...]:
    if items == [(_constants.CATEGORY, _constants.CATEGORY_SPACE)]:
        return (Alternative(" "),)
    characters: list[str] = []
    for kind, value in items:
        if kind is _constants.LITERAL:
            characters.append(chr(value))
        elif kind is _constants.RANGE and value[1] - value[0] < MOST_CHARACTERS:
            characters += map(chr, range(value[0], value[1] + 1))
        else:
            return UNKNOWN
    return tuple(map(Alternative, characters)) if len(characters) <= MOST_CHARACTERS else UNKNOWN


def _branch(argument: tuple[Any, Sequence[Any]]) -> tuple[Alternative, ...]:
    return _union(map(_sequence, argument[1]))


def _group(argument: tuple[Any, ...]) -> tuple[Alternative, ...]:
    inner = _sequence(argument[-1])
    return inner if argument[0] is None else tuple(Alternative(one.text, one.text) for one in inner)


def _repeated(argument: tuple[int, Any, Any]) -> tuple[Alternative, ...]:
    least, most, part = argument
    if most is _constants.MAXREPEAT or most > MOST_REPEATED:
        return UNKNOWN
    inner, times = _sequence(part), [EMPTY]
    for _ in range(most):
        times.append(_product(times[-1], inner))
    return _union(times[least:])


_READ: dict[Any, Callable[[Any], tuple[Alternative, ...]]] = {
    _constants.LITERAL: _literal,
    _constants.IN: _class,
    _constants.BRANCH: _branch,
    _constants.SUBPATTERN: _group,
    _constants.ATOMIC_GROUP: _sequence,
    _constants.MAX_REPEAT: _repeated,
    _constants.MIN_REPEAT: _repeated,
    _constants.POSSESSIVE_REPEAT: _repeated,
    _constants.AT: _empty,
    _constants.ASSERT: _empty,
    _constants.ASSERT_NOT: _empty,
}


@lru_cache(maxsize=64)
def has_word(text: str, word: str) -> bool:
    """Return whether a text contains a word on its own, in any case."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
