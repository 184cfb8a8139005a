"""Regular expressions of documents: whether they compile, and whether matching them always ends in time (W3)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from re import _constants, _parser
from typing import Any

_REPETITIONS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)


def pattern_problem(pattern: str) -> str:
    """What is wrong with a pattern in the dialect of Python's `re`, in words; "" if nothing is.

    What can match the same text in several ways takes exponential time if it is repeated without bound. So such a
    repetition may hold no other one of a varying number, and only alternatives that begin with different characters.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            parsed = _parser.parse(pattern)
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"does not compile: {error}"
    if _is_slow(parsed, inside=False):
        return "repeats without bound what can match in more than one way"
    return ""


def _is_slow(parsed: Iterable[Any], *, inside: bool) -> bool:
    """Whether an unbounded repetition holds what varies; `parsed` is what Python's own parser makes of a pattern."""
    for operation, argument in parsed:
        if inside and _varies(operation, argument):
            return True
        is_unbounded = operation in _REPETITIONS and argument[1] == _constants.MAXREPEAT
        if any(_is_slow(part, inside=inside or is_unbounded) for part in _parts(argument)):
            return True
    return False


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
