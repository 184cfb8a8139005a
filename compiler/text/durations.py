"""Read and write durations such as `10m`."""

from compiler.text.regex import Regex

LONGEST_TIME = 366 * 24 * 3600  # the longest duration in seconds

_DURATION = Regex(r"([0-9]{1,9})([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}

_SHORT = 120  # the limit below which durations are written in seconds


def spoken(seconds: int) -> str:
    """Return a duration in hours, minutes and seconds: `90 s`, `10 min`, `1 h 30 min`."""
    if seconds < _SHORT:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    parts = (minutes // 60, "h"), (minutes % 60, "min"), (rest, "s")
    return " ".join(f"{count} {name}" for count, name in parts if count)


def read_duration(value: object) -> int | None:
    """Return the seconds of `90s`, `10m` or `2h`, or None for an invalid or too long duration."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    seconds = int(match[1]) * _SECONDS[match[2]]
    return seconds if seconds <= LONGEST_TIME else None


def duration_remedy(value: object) -> str:
    """Return the remedy for an invalid duration."""
    written = str(value)
    is_number = written.isascii() and written.isdigit() and len(written) < 9 and bool(int(written))
    return f"write `{written}s` or `{written}m`" if is_number else "write a duration such as `90s`, `10m` or `2h`"
