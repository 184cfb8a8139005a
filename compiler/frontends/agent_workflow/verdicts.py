"""How the answer of a step becomes a verdict: its keywords, and which of them are failing (W9, W12)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from compiler.frontends.agent_workflow.alternatives import GAP, alternatives, has_word
from compiler.frontends.agent_workflow.syntax import TASK_DONE, Step
from compiler.ir.tasks import UNREAD

FAILING = frozenset(
    word.casefold()
    for word in ("REJECTED", "REJECT", "FAILED", "FAIL", "ERROR", "BLOCKED", "DENIED", "CHANGES_REQUESTED", "NEEDS_FIX")
)
LONGEST_KEYWORD = 200
"""In characters, of those that a pattern can match: nobody takes a longer text for a word."""


class Verdicts(Struct, frozen=True):
    """The keywords of a step, and the step that each of those with a condition leads to.

    Two of a step differ in more than case. `failing` are those that fail a parallel step.
    """

    keywords: tuple[str, ...]
    goto: Mapping[str, str]
    failing: tuple[str, ...]


def verdicts(step: Step, earlier: Collection[str]) -> Verdicts:
    """The keywords of a step without errors; `earlier` are the names of this step and those before it."""
    goto = {condition.keyword: condition.goto for condition in step.conditions or ()}
    keywords = tuple(_keywords(step, (*goto, TASK_DONE)))
    if any(word in UNREAD for word in keywords):
        # The words that rdc has for answers without a verdict are in lower case, so that in this step no keyword is.
        keywords = tuple(word.upper() for word in keywords)
        goto = {word.upper(): target for word, target in goto.items()}
    failing = tuple(word for word in keywords if word.casefold() in FAILING or goto.get(word) in earlier)
    return Verdicts(keywords, goto, failing)


def reserved_words(step: Step) -> tuple[str, ...]:
    """The keywords of a step that are words of rdc for answers without a verdict (I12)."""
    own = (condition.keyword for condition in step.conditions or ())
    return tuple(word for word in _keywords(step, (*own, TASK_DONE)) if word in UNREAD)


def _keywords(step: Step, own: tuple[str, ...]) -> Iterator[str]:
    """Those that the author names, what the pattern can match beside them, and TASK_DONE."""
    yield from own[:-1]
    known = {word.casefold() for word in own}
    pattern = step.report.validation if step.report else None
    for word in _matched(pattern, own) if pattern else ():
        if word.casefold() not in known:
            known.add(word.casefold())
            yield word
    yield from own[-1:]


@lru_cache(maxsize=16)
def _matched(pattern: str, own: tuple[str, ...]) -> tuple[str, ...]:
    """The words that a pattern can match: of each alternative what its first group takes, else all of it.

    One with a named keyword in it stands for that: `Verdict: APPROVED` must not hide APPROVED.
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


def listed_words(pattern: str) -> tuple[str, ...]:
    """Return the words that a pattern can match, as far as that is a short list."""
    return _matched(pattern, ())


@lru_cache(maxsize=64)
def can_be_valid(pattern: str, keyword: str) -> bool:
    """Whether a pattern can match in a text because of a keyword, or what it can match is too much to list (W5)."""
    listed = alternatives(pattern)
    if any(GAP in one.text or not one.text or has_word(one.text, keyword) for one in listed):
        return True
    return re.search(pattern, keyword, re.IGNORECASE) is not None
