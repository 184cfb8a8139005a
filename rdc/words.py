"""Nouns with their numbers."""

from __future__ import annotations


def many(count: int, what: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
