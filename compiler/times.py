"""Lengths of time, as people say them."""

from __future__ import annotations

_SHORT = 120
"""In seconds: less than this is said in seconds."""


def spoken(seconds: int) -> str:
    """Some seconds in hours, minutes and seconds: `90 s`, `10 min`, `1 h 30 min`."""
    if seconds < _SHORT:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    parts = (minutes // 60, "h"), (minutes % 60, "min"), (rest, "s")
    return " ".join(f"{count} {unit}" for count, unit in parts if count)
