"""Read verdicts from a step's answer: the keywords, and which of them fail."""

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from re import _constants, _parser
from typing import Any

from msgspec import Struct

from compiler.frontends.agent_workflow.syntax import TASK_DONE, Step
from compiler.ir.tasks import UNREAD
from runtime_shim.tasks.verdicts import LISTED, is_found

LONGEST_KEYWORD = 200  # in characters; a longer match of a pattern isn't a keyword


class Verdicts(Struct, frozen=True):
    """A step's keywords, which differ by more than case, the next step for some, and those that fail the step."""

    keywords: tuple[str, ...]
    goto: Mapping[str, str]
    failing: tuple[str, ...]


def verdicts(step: Step, earlier: Collection[str]) -> Verdicts:
    """Return the keywords of a step without errors. `earlier` has the names of this step and of all steps before it."""
    goto = {condition.keyword: condition.goto for condition in step.conditions or ()}
    keywords = candidates(step) if goto else (TASK_DONE,)
    if any(word in UNREAD for word in keywords):
        # rdc's words for answers without a verdict are lowercase, so uppercase keywords can't clash with them.
        keywords = tuple(word.upper() for word in keywords)
        goto = {word.upper(): target for word, target in goto.items()}
    failing = tuple(word for word in keywords if word.casefold() in LISTED or goto.get(word) in earlier)
    return Verdicts(keywords, goto, failing)


def candidates(step: Step) -> tuple[str, ...]:
    """Return the author's keywords, other words that the pattern can match, and TASK_DONE (W9)."""
    own = [condition.keyword for condition in step.conditions or ()]
    pattern = step.report.validation if step.report else None
    known = {word.casefold() for word in (*own, TASK_DONE)}
    others: dict[str, str] = {}
    for word in listed_words(pattern, (*own, TASK_DONE)) if pattern else ():
        if word.casefold() not in known:
            others.setdefault(word.casefold(), word)
    return (*own, *others.values(), TASK_DONE)


@lru_cache(maxsize=16)
def listed_words(pattern: str, own: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the words that a pattern can match, if they can be listed: the first group of each alternative, or all.

    An alternative that contains a named keyword is skipped: `Verdict: APPROVED` must not hide APPROVED.
    """
    words = []
    for alternative in alternatives(pattern):
        if any(has_word(alternative.text, word) for word in own):
            continue
        group = alternative.group if alternative.group is not None else alternative.text
        word = (alternative.text if GAP in group or not group.strip() else group).strip()
        if GAP not in word and "\n" not in word and re.search(r"\w", word) and len(word) <= LONGEST_KEYWORD:
            words.append(word)
    return tuple(words)


@lru_cache(maxsize=64)
def can_be_valid(pattern: str, keyword: str) -> bool:
    """Return whether a keyword can make a pattern match. True if the pattern's matches can't be listed (W5)."""
    listed = alternatives(pattern)
    if any(GAP in one.text or not one.text or has_word(f"{one.text} {one.group or ''}", keyword) for one in listed):
        return True
    return is_found(pattern, keyword)


def last_lines(step: Step, prompt: str) -> tuple[str, ...]:
    """Return the last lines that an answer can have, as the validation pattern wants them, or none (W6)."""
    words, pattern = candidates(step)[:-1], (step.report.validation if step.report else None) or ""
    listed = {f"{one.text} {one.group or ''}": one.text.replace(GAP, " ").strip() for one in alternatives(pattern)}
    whole = {found: text for found, text in listed.items() if "\n" not in text and is_found(pattern, text)}
    written = [
        word
        if not pattern or is_found(pattern, word)
        else next((text for found, text in whole.items() if has_word(found, word)), word)
        for word in words
    ]
    return (*written, *([TASK_DONE] if written and has_word(prompt, TASK_DONE) else []))


LONGEST_PATTERN = 2000  # in characters; longer patterns are an error

MOST = 64  # a pattern with more alternatives isn't listed

MOST_CHARACTERS = 8  # a larger character class isn't listed

MOST_REPEATED = 4

GAP = "\0"
"""Marks a part that can't be listed. No document contains this character."""


class Alternative(Struct, frozen=True):
    """A string that a pattern matches, and the text of its first capturing group, or None."""

    text: str
    group: str | None = None


UNKNOWN: tuple[Alternative, ...] = (Alternative(GAP),)
EMPTY: tuple[Alternative, ...] = (Alternative(""),)


@lru_cache(maxsize=16)
def alternatives(pattern: str) -> tuple[Alternative, ...]:
    """Return every string that a valid pattern can match, with `GAP` for parts that can't be listed."""
    with warnings.catch_warnings(action="ignore"):
        parsed = _parser.parse(pattern)
    try:
        return _sequence(parsed)
    except RecursionError:
        return UNKNOWN


def _sequence(parsed: Iterable[Any]) -> tuple[Alternative, ...]:
    found = EMPTY
    for operation, argument in parsed:
        found = _product(found, _READ[operation](argument) if operation in _READ else UNKNOWN)
    return found


def _product(first: Sequence[Alternative], second: Sequence[Alternative]) -> tuple[Alternative, ...]:
    if len(first) * len(second) > MOST:
        return UNKNOWN
    pairs = ((one, other) for one in first for other in second)
    joined = (
        Alternative(one.text + other.text, other.group if one.group is None else one.group) for one, other in pairs
    )
    return tuple(dict.fromkeys(joined))


def _union(parts: Iterable[Iterable[Alternative]]) -> tuple[Alternative, ...]:
    found = dict.fromkeys(one for part in parts for one in part)
    return tuple(found) if len(found) <= MOST else UNKNOWN


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
    _constants.LITERAL: lambda code: (Alternative(chr(code)),),
    _constants.IN: _class,
    _constants.BRANCH: lambda argument: _union(map(_sequence, argument[1])),
    _constants.SUBPATTERN: _group,
    _constants.ATOMIC_GROUP: _sequence,
    _constants.MAX_REPEAT: _repeated,
    _constants.MIN_REPEAT: _repeated,
    _constants.POSSESSIVE_REPEAT: _repeated,
    # Anchors and lookarounds consume nothing.
    **dict.fromkeys((_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT), lambda _: EMPTY),
}


@lru_cache(maxsize=64)
def has_word(text: str, word: str) -> bool:
    """Return whether a text contains a word on its own, in any case."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
