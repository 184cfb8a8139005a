"""Suggest a similar known name for an unknown one."""

from collections.abc import Iterable
from itertools import islice

MOST_COMPARED = 1000
LONGEST_COMPARED = 100
"""The longest name to compare, in characters: longer names are rarely misspelled, and comparing is slow."""


def nearest_names(name: str, known: Iterable[str], most: int, cutoff: float = 0.6) -> list[str]:
    """Return the most similar known names that are at least as similar as the cutoff (1 is equal)."""
    from difflib import get_close_matches  # noqa: PLC0415 (only for an error)

    return (
        get_close_matches(name, list(islice(known, MOST_COMPARED)), most, cutoff)
        if len(name) <= LONGEST_COMPARED
        else []
    )


def nearest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the most similar known name, or "" if none is as similar as the cutoff (1 is equal)."""
    return next(iter(nearest_names(name, known, 1, cutoff)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the most similar known name, or "" if none is similar."""
    nearest = nearest_name(name, known)
    return f"; did you mean `{nearest}`?" if nearest else ""
