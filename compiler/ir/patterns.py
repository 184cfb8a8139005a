"""Regular expressions of documents: whether they compile, and whether matching them ends in time (W3, I8)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import inf, log10
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

MOST_MATCHES = 6
"""As a power of ten: in how many ways a bounded repetition may match the same text."""

_WAYS_WITHOUT_BOUND = 2
"""As a power of ten: how many ways count for a repetition without bound within a bounded one."""

_REPETITIONS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)

_MANY = 100
"""How many times a repetition with a bound repeats that counts as one without."""

_SAMPLE = (*map(chr, range(0x20, 0x7F)), *map(chr, range(0x20)), *"éß٣中\u00a0\u2028\U0001f511")
"""Characters that stand for all, those first that are best shown."""


@lru_cache(maxsize=16)
def pattern_problem(pattern: str) -> str:
    """What is wrong with a pattern in the dialect of Python's `re`, in words; "" if nothing is.

    What can match the same text in several ways takes exponential time if it is repeated. So a repetition without bound
    may hold no other one of a varying number, and only alternatives that begin with different characters; one with a
    bound may hold these only as long as the ways remain few.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            parsed = _parser.parse(pattern)
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"does not compile: {error}"
    if _is_slow(parsed, inside=False):
        return "repeats without bound what can match in more than one way"
    if _nested_matches(parsed) > MOST_MATCHES:
        return "repeats too often what can match in more than one way"
    return ""


@lru_cache(maxsize=16)
def overlap(pattern: str) -> str:
    r"""A character that two repetitions match of which one follows the other, "" if there is none.

    Each such repetition multiplies the time by the length of the text. What stands between two of them separates them
    unless it can be empty, as in `\d+,?\d+`.
    """
    with warnings.catch_warnings(action="ignore"):
        parsed = _parser.parse(pattern)
        return next(_overlaps(parsed, tuple(dict.fromkeys((*_SAMPLE, *pattern)))), "")


SEPARATE = "join the two into one, or write between them what neither matches"
"""The remedy for overlapping repetitions."""


def overlapping(character: str) -> str:
    """The problem of a pattern whose repetitions overlap in a character."""
    return f"has two repetitions in a row that both match {character!r}, so a long value takes long to match"


def _overlaps(parsed: Iterable[Any], sample: tuple[str, ...]) -> Iterator[str]:
    """The characters of a sample that neighboring repetitions of a sequence, or of a part of it, both match."""
    before: set[str] = set()
    for operation, argument in _flat(parsed):
        for part in _parts(argument):
            yield from _overlaps(part, sample)
        is_optional = operation in _REPETITIONS and not argument[0]
        if operation in _REPETITIONS and argument[1] >= _MANY:  # MAXREPEAT is a large number
            single = _compiler.compile(argument[2])
            matched = [character for character in sample if single.fullmatch(character)]
            yield from (character for character in matched if character in before)
            before = {*(before if is_optional else ()), *matched}
        elif not is_optional:
            before = set()


def _flat(parsed: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The items of a sequence, those of its groups in their places."""
    for operation, argument in parsed:
        if operation is _constants.SUBPATTERN and not argument[1] and not argument[2]:
            yield from _flat(argument[3])
        else:
            yield operation, argument


def _is_slow(parsed: Iterable[Any], *, inside: bool) -> bool:
    """Whether an unbounded repetition holds what varies; `parsed` is what Python's own parser makes of a pattern."""
    for operation, argument in parsed:
        if inside and _varies(operation, argument):
            return True
        is_unbounded = operation in _REPETITIONS and argument[1] == _constants.MAXREPEAT
        if any(_is_slow(part, inside=inside or is_unbounded) for part in _parts(argument)):
            return True
    return False


def _nested_matches(parsed: Iterable[Any]) -> float:
    """The most ways, as a power of ten, of a repetition that holds what varies; 0 if there is none."""
    found = 0.0
    for operation, argument in parsed:
        inner = _parts(argument)
        if operation in _REPETITIONS and argument[1] != _constants.MAXREPEAT and sum(map(_matches, inner)):
            found = max(found, _matches([(operation, argument)]))
        found = max([found, *map(_nested_matches, inner)])
    return found


def _matches(parsed: Iterable[Any]) -> float:
    """In how many ways a pattern can match the same text at most, as a power of ten; roughly, and never too few."""
    found = 0.0
    for operation, argument in parsed:
        inner = sum(map(_matches, _parts(argument)))
        if operation in _REPETITIONS:
            least, most = argument[:2]
            is_bounded = most != _constants.MAXREPEAT
            own = log10(most - least + 1) if is_bounded else _WAYS_WITHOUT_BOUND
            inner = own + (inner * most if is_bounded else inner and inf)
        elif _varies(operation, argument):
            inner += log10(len(argument[1]))
        found += inner
    return found


def _varies(operation: object, argument: Any) -> bool:  # noqa: ANN401 (the parser has no types)
    """Whether an operation itself can match in more than one way."""
    if operation in _REPETITIONS:
        return bool(argument[0] != argument[1])
    if operation is not _constants.BRANCH:
        return False
    beginnings = [alternative[0] if len(alternative) else None for alternative in argument[1]]
    letters = [chr(item[1]).casefold() if item and item[0] is _constants.LITERAL else "" for item in beginnings]
    return "" in letters or len(letters) != len(set(letters))


def _parts(argument: object) -> list[Any]:
    """The patterns within the argument of an operation, at whatever depth Python's parser keeps them."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, (tuple, list)):
        return [part for item in argument for part in _parts(item)]
    return []
