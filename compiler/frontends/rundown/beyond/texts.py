"""Check single strings in declarations."""

from __future__ import annotations

LONGEST = 65_536
"""The longest value that a command can get, in bytes (I7)."""


def text_problem(value: object) -> str:
    """Return why a plain value is not a valid string, or "" if it is one."""
    if value is None:
        return "it has no value"
    if not isinstance(value, str):
        return "it is not a string"
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "it contains a character that is not valid in UTF-8"
    if "\0" in value:
        return "it contains a NUL character"
    return f"it is longer than {LONGEST:,} bytes" if size > LONGEST else ""
