"""Check regular expressions of documents: do they compile, do they match quickly? And make samples (I8)."""

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import inf, log10
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

MOST_MATCHES = 6
"""As a power of ten. The maximum number of ways in which a bounded repetition may match one string."""

_WAYS_WITHOUT_BOUND = 2
"""As a power of ten. The assumed number of ways of an unbounded repetition inside a bounded one."""

_REPETITIONS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)

_MANY = 100  # a repetition with this upper bound or more counts as unbounded

_SAMPLE = (*map(chr, range(0x20, 0x7F)), *map(chr, range(0x20)), *"éß٣中\u00a0\u2028\U0001f511")
"""Sample characters, the most readable ones first."""


@lru_cache(maxsize=16)
def pattern_issue(pattern: str) -> str:
    """Return what is wrong with a pattern for Python's `re`, or "".

    Repeating a part that matches the same string in several ways takes exponential time. So an unbounded repetition
    must not contain another repetition of a varying number, or alternatives that start with the same character. A
    bounded one may contain these while the number of ways is small.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            parsed = _parser.parse(pattern)
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a valid regular expression: {error}"
    if _is_slow(parsed, inside=False):
        return "repeats, without limit, a part that can match in several ways"
    if _nested_matches(parsed) > MOST_MATCHES:
        return "repeats, too often, a part that can match in several ways"
    return ""


@lru_cache(maxsize=16)
def overlap(pattern: str) -> str:
    r"""Return a character that two adjacent repetitions both match, or "".

    Each such repetition multiplies the time by the length of the string. A part between them separates them, unless it
    can be empty, as in `\d+,?\d+`.
    """
    with warnings.catch_warnings(action="ignore"):
        return next(_overlaps(_parser.parse(pattern), tuple(dict.fromkeys((*_SAMPLE, *pattern)))), "")


SEPARATE = "merge them, or put a character between them that neither matches"
"""The help for overlapping repetitions."""


def overlapping(character: str) -> str:
    """Return the message for a pattern with overlapping repetitions."""
    return f"has two repetitions in a row that both match {character!r}, so long values are slow to match"


def _overlaps(parsed: Iterable[Any], sample: tuple[str, ...]) -> Iterator[str]:
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
    for operation, argument in parsed:
        if operation is _constants.SUBPATTERN and not argument[1] and not argument[2]:
            yield from _flat(argument[3])
        else:
            yield operation, argument


def _is_slow(parsed: Iterable[Any], *, inside: bool) -> bool:
    """Return whether an unbounded repetition contains a varying part. `parsed` is from Python's own parser."""
    for operation, argument in parsed:
        if inside and _varies(operation, argument):
            return True
        is_unbounded = operation in _REPETITIONS and argument[1] == _constants.MAXREPEAT
        if any(_is_slow(part, inside=inside or is_unbounded) for part in _parts(argument)):
            return True
    return False


def _nested_matches(parsed: Iterable[Any]) -> float:
    """Return the most ways, as a power of ten, of a repetition with a varying part; 0 if there is none."""
    found = 0.0
    for operation, argument in parsed:
        inner = _parts(argument)
        if operation in _REPETITIONS and argument[1] != _constants.MAXREPEAT and sum(map(_matches, inner)):
            found = max(found, _matches([(operation, argument)]))
        found = max([found, *map(_nested_matches, inner)])
    return found


def _matches(parsed: Iterable[Any]) -> float:
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
    if operation in _REPETITIONS:
        return bool(argument[0] != argument[1])
    if operation is not _constants.BRANCH:
        return False
    beginnings = [alternative[0] if len(alternative) else None for alternative in argument[1]]
    letters = [chr(item[1]).casefold() if item and item[0] is _constants.LITERAL else "" for item in beginnings]
    return "" in letters or len(letters) != len(set(letters))


def _parts(argument: object) -> list[Any]:
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, (tuple, list)):
        return [part for item in argument for part in _parts(item)]
    return []


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
    if items[0][0] is _constants.NEGATE:
        taken = {_part(operation, argument) for operation, argument in items[1:] if operation is _constants.LITERAL}
        return next((char for char in _TRIED if char not in taken), "")
    operation, argument = items[0]
    if operation is _constants.RANGE:
        return chr(argument[0])
    return chr(argument) if operation is _constants.LITERAL else _CLASSES.get(argument, "a")
