"""Keys that look like a safeguard: ignoring one would let a run go on where its author wants a person to decide."""

from __future__ import annotations

import re

_WORDS = frozenset({"human", "humans", "gate", "gates", "approval", "approvals", "hitl", "humangate", "humangates"})


def looks_like_safeguard(key: str) -> bool:
    """Tell whether a key has the name of a safeguard, in any spelling: `human_gate`, `humanGate`, `Human-Gate`."""
    return re.sub(r"[\s_-]", "", key).casefold() in _WORDS
