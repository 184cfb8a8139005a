"""Suggest a similar known name for an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

MOST_COMPARED = 1000
LONGEST_COMPARED = 100
"""The longest name to compare, in characters: longer names are rarely misspelled, and comparing is slow."""


def nearest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the most similar known name, or "" if none is as similar as the cutoff (1 is equal)."""
    known = list(islice(known, MOST_COMPARED))
    from difflib import get_close_matches  # noqa: PLC0415 (only for an error)

    if len(name) > LONGEST_COMPARED:
        return ""
    return next(iter(get_close_matches(name, known, 1, cutoff)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the most similar known name, or "" if none is similar."""
    nearest = nearest_name(name, known)
    return f"; did you mean `{nearest}`?" if nearest else ""
