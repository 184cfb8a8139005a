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

    A repetition without bound inside of another one can take exponential time, so that a run could hang.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            parsed = _parser.parse(pattern)
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"does not compile: {error}"
    return "repeats without bound what itself repeats without bound" if _nests(parsed, inside=False) else ""


def _nests(parsed: Iterable[Any], *, inside: bool) -> bool:
    """Whether an unbounded repetition stands in another; `parsed` is what Python's own parser makes of a pattern."""
    for operation, argument in parsed:
        is_repetition = operation in _REPETITIONS and argument[1] == _constants.MAXREPEAT
        if is_repetition and inside:
            return True
        if any(_nests(part, inside=inside or is_repetition) for part in _parts(argument)):
            return True
    return False


def _parts(argument: object) -> list[Any]:
    """The patterns within the argument of an operation, at whatever depth Python's parser keeps them."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, (tuple, list)):
        return [part for item in argument for part in _parts(item)]
    return []
