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


_CHOSEN = frozenset(
    {"inputs", "outputs", "env", "secrets", "steps", "with", "variables", "agents", "tools", "labels", "metadata"}
)
"""Keys below which authors choose the names."""
_DEEPEST = 4


def hidden_safeguard(key: str, value: object, depth: int = 0) -> str:
    """Return the first key below an unknown key that looks like a safeguard, or ""."""
    if key in _CHOSEN or not isinstance(value, dict) or depth == _DEEPEST:
        return ""
    for name, inner in value.items():
        found = name if looks_like_safeguard(str(name)) else hidden_safeguard(str(name), inner, depth + 1)
        if found:
            return str(found)
    return ""


def is_about_text(key: str) -> bool:
    """Return whether a key with `human` is about text, such as `human_readable`."""
    words = {word.casefold() for word in _WORDS.findall(key[:200])}
    return "human" in words and not _ABOUT_TEXT.isdisjoint(words)


def looks_like_safeguard(key: str) -> bool:
    """Return whether a part of a key is named like a safeguard, in any spelling: `human_gate`, `requiresApproval`."""
    words = [word.casefold() for word in _WORDS.findall(key[:200])]
    if _HARMLESS.intersection(words):
        return False
    if is_about_text(key):
        words = [word for word in words if word != "human"]
    squashed = "".join(words)
    if any(stem in squashed for stem in _STEMS) or not _PARTS.isdisjoint(words):
        return True
    return not _REVIEW.isdisjoint(words) and not _DEMANDS.isdisjoint(words)
