"""What was probably meant by a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType

MOST_COMPARED = 1000
LONGEST_COMPARED = 100
"""In characters: to compare takes time, and nobody misspells longer names."""
FORMER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "unit": ("step", "of", "id"),
        "units": ("steps",),
        "value": ("output",),
        "values": ("outputs",),
    }
)
"""What names of drafts of rdc are called today, so that the suggestion is right: `of` in a register, `id` in a jump."""


def nearest_name(name: str, known: Iterable[str]) -> str:
    """The nearest of the names that there are, "" if none is near."""
    known = list(islice(known, MOST_COMPARED))
    if today := next((new for new in FORMER.get(name, ()) if new in known), ""):
        return today
    from difflib import get_close_matches  # noqa: PLC0415 (only for an error)

    if len(name) > LONGEST_COMPARED:
        return ""
    return next(iter(get_close_matches(name, known, 1)), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?` with the nearest of the names that there are, "" if none is near."""
    nearest = nearest_name(name, known)
    return f"; did you mean `{nearest}`?" if nearest else ""
