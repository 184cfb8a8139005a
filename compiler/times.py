"""Lengths of time, as people say them."""

from __future__ import annotations

from compiler.regex import Regex

LONGEST_TIME = 366 * 24 * 3600
"""In seconds."""

_DURATION = Regex(r"([0-9]{1,9})([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}

_SHORT = 120
"""In seconds: less than this is said in seconds."""


def spoken(seconds: int) -> str:
    """Some seconds in hours, minutes and seconds: `90 s`, `10 min`, `1 h 30 min`."""
    if seconds < _SHORT:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    parts = (minutes // 60, "h"), (minutes % 60, "min"), (rest, "s")
    return " ".join(f"{count} {name}" for count, name in parts if count)


def read_duration(value: object) -> int | None:
    """The seconds of `90s`, `10m` or `2h`; None for what is no such text, or too long a time."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    seconds = int(match[1]) * _SECONDS[match[2]]
    return seconds if seconds <= LONGEST_TIME else None


def duration_remedy(value: object) -> str:
    """What to write for something that is no duration."""
    written = str(value)
    is_number = written.isascii() and written.isdigit() and len(written) < 9 and bool(int(written))
    return f"write `{written}s` or `{written}m`" if is_number else "write a time such as `90s`, `10m` or `2h`"
