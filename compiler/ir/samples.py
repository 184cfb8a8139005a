"""Sample strings for regular expressions, for mocks and stand-ins. The caller checks that they match."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from re import _constants, _parser
from typing import Any

_REPEATED = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_CLASSES = {
    _constants.CATEGORY_DIGIT: "1",
    _constants.CATEGORY_SPACE: " ",
    _constants.CATEGORY_WORD: "a",
    _constants.CATEGORY_NOT_DIGIT: "a",
    _constants.CATEGORY_NOT_SPACE: "a",
    _constants.CATEGORY_NOT_WORD: " ",
}
_TRIED = "a1A-_. \n"


def sample(pattern: str) -> str:
    """Return a short string that a valid pattern probably matches."""
    with warnings.catch_warnings(action="ignore"):
        return _joined(_parser.parse(pattern))


def _joined(parsed: Iterable[Any]) -> str:
    return "".join(_part(operation, argument) for operation, argument in parsed)


def _part(operation: object, argument: Any) -> str:  # noqa: ANN401 (the parser has no types)
    if operation is _constants.LITERAL:
        return chr(argument)
    if operation is _constants.ANY:
        return "a"
    if operation is _constants.NOT_LITERAL:
        return "a" if argument != ord("a") else "b"
    if operation is _constants.IN:
        return _one_of(argument)
    if operation is _constants.BRANCH:
        return _joined(argument[1][0])
    if operation in _REPEATED:
        return _joined(argument[2]) * max(int(argument[0]), 1 if argument[1] else 0)
    if operation is _constants.SUBPATTERN:
        return _joined(argument[-1])
    return _joined(argument) if operation is _constants.ATOMIC_GROUP else ""


def _one_of(items: list[Any]) -> str:
    """Return a character of a set."""
    if items[0][0] is _constants.NEGATE:
        taken = {_part(operation, argument) for operation, argument in items[1:] if operation is _constants.LITERAL}
        return next((char for char in _TRIED if char not in taken), "")
    operation, argument = items[0]
    if operation is _constants.RANGE:
        return chr(argument[0])
    return chr(argument) if operation is _constants.LITERAL else _CLASSES.get(argument, "a")
