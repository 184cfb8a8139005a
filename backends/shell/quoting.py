"""Strings as shell words."""

from __future__ import annotations


def quoted(text: str) -> str:
    """Return a string in single quotes, which every shell reads unchanged."""
    return "'" + text.replace("'", "'\\''") + "'"
