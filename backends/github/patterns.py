r"""Translates regular expressions of inputs (I8) for bash, if bash is sure to match the same strings.

Python handles the rest: characters that bash in the C locale reads as bytes (`.`, `[^a]`), Unicode classes (`\d`), and
syntax that bash doesn't have.
"""

from __future__ import annotations

import re

from compiler.regex import Regex

_CLASS = r"\[[A-Za-z0-9_.@+/ ](?:[A-Za-z0-9_.@+/ ]|-(?=[A-Za-z0-9\]]))*\]"
_TOKEN = Regex(
    r"(?P<plain>[A-Za-z0-9_ /:@,=~%&<>!#'\"-])"
    rf"|(?P<class>{_CLASS})"
    r"|\\(?P<escaped>[].+*?(){}|/^$\\[-])"
    r"|(?P<opens>\((?:\?:)?(?=[^|)*+?{]))"
    r"|(?P<closes>(?<![(|])\))"
    r"|(?P<other>(?<![(|])\|(?=[^|)]))"
    r"|(?P<times>[*+?](?![*+?{])|\{[0-9]{1,2}(?:,(?:[0-9]{1,2})?)?\}(?![*+?{]))"
)
_SPECIAL = frozenset("].+*?(){}|^$\\[")


def as_ere(pattern: str) -> str | None:
    """Return the pattern as a POSIX extended regular expression, or None if its meaning might differ."""
    if not pattern or pattern.startswith("|") or pattern.endswith("|"):
        return None
    found, place = "", 0
    while place < len(pattern):
        match = _TOKEN.match(pattern, place)
        if match is None:
            return None
        found += _written(match)
        place = match.end()
    return found


def _written(match: re.Match[str]) -> str:
    if match["escaped"]:
        return f"\\{match['escaped']}" if match["escaped"] in _SPECIAL else match["escaped"]
    return "(" if match["opens"] else match[0]
