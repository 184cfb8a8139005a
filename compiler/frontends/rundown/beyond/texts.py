"""Single texts in declarations: what cannot be carried, and the durations among them."""

from __future__ import annotations

import re

LONGEST = 65_536
"""In bytes: the longest value that a command can be given (I7)."""

LONGEST_TIME = 366 * 24 * 3600
"""In seconds."""

_DURATION = re.compile(r"([0-9]{1,9})([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def text_problem(value: object) -> str:
    """Why a plain value cannot be taken as a text; "" if it can."""
    if value is None:
        return "it has no value"
    if not isinstance(value, str):
        return "it is not a text"
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "it holds a character that UTF-8 does not have"
    if "\0" in value:
        return "it holds a NUL character"
    return f"it is longer than {LONGEST:,} bytes" if size > LONGEST else ""


def read_duration(value: object) -> int | None:
    """The seconds of `90s`, `10m` or `2h`; None for what is no such text, or too long a time."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    seconds = int(match[1]) * _SECONDS[match[2]]
    return seconds if seconds <= LONGEST_TIME else None
