"""Characters that change how a listing looks, or what a terminal does: as JSON escapes in what people read."""

from __future__ import annotations

from compiler.regex import Regex

_UNSEEN = Regex("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""DEL and the other control characters that JSON leaves as they are, line separators, and changes of direction."""


def shown_json(text: str) -> str:
    """JSON that means the same; such characters stand in its strings only."""
    if text.isascii() and "\x7f" not in text:  # as most is; this takes no time
        return text
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
