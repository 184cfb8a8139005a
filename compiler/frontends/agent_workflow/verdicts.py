"""Read verdicts from a step's answer: the keywords, and which of them fail (W9, W12)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from compiler.frontends.agent_workflow.alternatives import GAP, alternatives, has_word
from compiler.frontends.agent_workflow.syntax import TASK_DONE, Step
from compiler.ir.tasks import UNREAD
from runtime_shim.tasks.verdicts import LISTED, is_found

LONGEST_KEYWORD = 200
"""In characters. A longer match of a pattern isn't a keyword."""


class Verdicts(Struct, frozen=True):
    """The keywords of a step that decide, and the next step for each keyword with a condition.

    Keywords of a step differ by more than case. `failing` are the keywords that fail a parallel step.
    """

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


def reserved_words(step: Step) -> tuple[str, ...]:
    """Return the keywords that clash with rdc's words for answers without a verdict (I12)."""
    return tuple(word for word in candidates(step) if word in UNREAD) if step.conditions else ()


def candidates(step: Step) -> tuple[str, ...]:
    """Return the author's keywords, other words that the pattern can match, and TASK_DONE (W9)."""
    own = (condition.keyword for condition in step.conditions or ())
    return tuple(_keywords(step, (*own, TASK_DONE)))


def _keywords(step: Step, own: tuple[str, ...]) -> Iterator[str]:
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
    """Return the words that a pattern can match: the first group of each alternative, or all of it.

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


def listed_words(pattern: str) -> tuple[str, ...]:
    """Return the words that a pattern can match, if they can be listed."""
    return _matched(pattern, ())


@lru_cache(maxsize=64)
def can_be_valid(pattern: str, keyword: str) -> bool:
    """Return whether a keyword can make a pattern match. True if the pattern's matches can't be listed (W5)."""
    listed = alternatives(pattern)
    if any(GAP in one.text or not one.text or has_word(one.text, keyword) for one in listed):
        return True
    return is_found(pattern, keyword)


def last_lines(step: Step, prompt: str) -> tuple[str, ...]:
    """Return the last lines that an answer can have, as the validation pattern wants them, or none (W6)."""
    words, pattern = candidates(step)[:-1], step.report.validation if step.report else None
    listed = [one.text.strip() for one in alternatives(pattern)] if pattern else []
    whole = [text for text in listed if GAP not in text and "\n" not in text]
    written = [
        word
        if not pattern or is_found(pattern, word)
        else next((text for text in whole if text and has_word(text, word)), word)
        for word in words
    ]
    return (*written, *([TASK_DONE] if written and has_word(prompt, TASK_DONE) else []))
