"""Texts as words of a shell."""

from __future__ import annotations


def quoted(text: str) -> str:
    """A text in single quotes, whether it needs them or not: any shell takes it as it is."""
    return "'" + text.replace("'", "'\\''") + "'"
