"""What was probably meant by a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

MOST_COMPARED = 1000
LONGEST_COMPARED = 100
"""In characters: to compare takes time, and nobody misspells longer names."""


def nearest_name(name: str, known: Iterable[str]) -> str:
    """The nearest of the names that there are, "" if none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 (only for a mistake)

    if len(name) > LONGEST_COMPARED:
        return ""
    return next(iter(get_close_matches(name, list(islice(known, MOST_COMPARED)), 1)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?` with the nearest of the names that there are, "" if none is near."""
    nearest = nearest_name(name, known)
    return f"; did you mean `{nearest}`?" if nearest else ""
