"""Recognize keys that look like a safeguard: ignoring one would let a run continue without a person's decision."""

from __future__ import annotations

from compiler.regex import Regex

_WORDS = Regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STEMS = ("approv", "confirm", "interrupt", "signoff", "humangate", "humaninthe", "humanreview", "manualreview")
"""Parts of keys without separators. None is part of a common word for something else, apart from `_HARMLESS`."""
_PARTS = frozenset(
    {"human", "humans", "gate", "gates", "gated", "hitl", "consent", "manual", "reviewers", "breakpoint"}
)
_REVIEW = frozenset({"review", "reviews", "reviewed", "reviewer"})
_DEMANDS = frozenset({"require", "requires", "required", "needs", "need", "must", "wait"})
_HARMLESS = frozenset({"interruptible", "uninterruptible"})
_ABOUT_TEXT = frozenset(
    {"readable", "friendly", "name", "title", "label", "text", "language", "format", "date", "time"}
)
"""A word after `human` that makes a key one about text: `human_readable`."""


def looks_like_safeguard(key: str) -> bool:
    """Return whether a part of a key is named like a safeguard, in any spelling: `human_gate`, `requiresApproval`."""
    words = [word.casefold() for word in _WORDS.findall(key[:200])]
    if _HARMLESS.intersection(words):
        return False
    if "human" in words and _ABOUT_TEXT.intersection(words):
        words = [word for word in words if word != "human"]
    squashed = "".join(words)
    if any(stem in squashed for stem in _STEMS) or not _PARTS.isdisjoint(words):
        return True
    return not _REVIEW.isdisjoint(words) and not _DEMANDS.isdisjoint(words)
