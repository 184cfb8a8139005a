"""Recognize keys that look like a safeguard: ignoring one would let a run continue without a person's decision."""

from __future__ import annotations

import re

_WORDS = frozenset({"human", "humans", "gate", "gates", "approval", "approvals", "hitl", "humangate", "humangates"})


def looks_like_safeguard(key: str) -> bool:
    """Return whether a key is named like a safeguard, in any spelling: `human_gate`, `humanGate`, `Human-Gate`."""
    return re.sub(r"[\s_-]", "", key).casefold() in _WORDS
