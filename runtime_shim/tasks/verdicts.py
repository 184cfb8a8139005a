"""Verdicts: the word of an answer, and how to join those of several agents (I12, I14). Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Callable, Optional

COLORS = "\x1b\\[[0-?]*[ -/]*[@-~]"  # escape sequences of terminals


def keywords_in(answer: str, keywords: Iterable[str]) -> set[str]:
    """Return the keywords of the deciding line; more than one is ambiguous (I12)."""
    ordered = sorted(keywords, key=len, reverse=True)
    alternatives = "|".join(f"({re.escape(keyword)})" for keyword in ordered)
    # Underscores around a word are Markdown emphasis; those inside belong to it.
    exact, alike = (re.compile(rf"(?<!\w)_*(?:{alternatives})(?!_*[^\W_])", flags) for flags in (0, re.IGNORECASE))
    said: set[str] = set()
    for line in reversed(answer.split("\n")):
        found, folded = (
            {ordered[match.lastindex - 1] for match in pattern.finditer(line) if match.lastindex}
            for pattern in (exact, alike)
        )
        if found:  # both this and the words below may be quotations
            return found | said
        said = said or folded
    return said


def is_found(pattern: str, answer: str) -> bool:
    """Return whether a validation pattern matches somewhere in an answer (I12)."""
    return re.search(pattern, answer, re.IGNORECASE) is not None


def read_word(
    answer: Optional[str],
    keywords: Sequence[str],
    validation: Optional[str] = None,
    excused: Iterable[str] = (),
    search: Callable[[str, str], bool] = is_found,
) -> str:
    """Return the word of an answer; an answer may be missing (I12)."""
    if keywords:
        return _decided(answer, keywords, validation, excused, search)
    return "pass" if answer else "fail"


def _decided(
    answer: Optional[str],
    keywords: Sequence[str],
    validation: Optional[str],
    excused: Iterable[str],
    search: Callable[[str, str], bool],
) -> str:
    if not answer:
        return "failed"
    answer = re.sub(COLORS, "", answer)
    found = keywords_in(answer, keywords)
    is_excused = len(found) == 1 and bool(found & set(excused))
    if validation is not None and not is_excused and not search(validation, answer):
        return "invalid"
    if len(found) > 1:
        return "ambiguous"
    return found.pop() if found else "none"


def joined_word(words: Sequence[str], check: str, failing: Iterable[str] = (), unanimous: Iterable[str] = ()) -> str:
    """Return the word that the words of entries give together (I14)."""
    for trouble in ("failed", "invalid", "ambiguous"):
        if trouble in words:
            return trouble
    if words[0] in set(unanimous) and len(set(words)) == 1:
        return words[0]
    counted = [word for word in words if word != "none" and word not in set(unanimous)]
    bad = [word for word in counted if word in set(failing)]
    good = [word for word in counted if word not in set(failing)]
    if check == "any":
        return (good or bad or ["none"])[0]
    if bad:
        return bad[0]
    return "ambiguous" if len(set(good)) > 1 else (good or ["none"])[0]


def joined_answer(answers: Iterable[Optional[str]]) -> str:
    """Return the text of a parallel step: its answers, separated by empty lines (I14)."""
    return "\n\n".join(answer for answer in answers if answer)
