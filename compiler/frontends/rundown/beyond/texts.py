"""Single texts in declarations: what cannot be carried."""

from __future__ import annotations

LONGEST = 65_536
"""In bytes: the longest value that a command can be given (I7)."""


def text_problem(value: object) -> str:
    """Why a plain value cannot be taken as a string; "" if it can."""
    if value is None:
        return "it has no value"
    if not isinstance(value, str):
        return "it is not a string"
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "it holds a character that UTF-8 does not have"
    if "\0" in value:
        return "it holds a NUL character"
    return f"it is longer than {LONGEST:,} bytes" if size > LONGEST else ""
