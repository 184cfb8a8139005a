"""Escape characters that change how text looks or how a terminal behaves."""

from __future__ import annotations

from compiler.regex import Regex

_UNSEEN = Regex("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""DEL and other control characters that JSON doesn't escape, line separators, and changes of direction."""


def shown_json(text: str) -> str:
    """Return equivalent JSON with such characters escaped. They only occur in its strings."""
    if text.isascii() and "\x7f" not in text:  # the usual case, which must cost nothing
        return text
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
