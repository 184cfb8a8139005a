"""What differs between a run and the path by the rules, said briefly."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 600


class DifferenceError(AssertionError):
    """A target does something else than the rules say. `said` is what was printed meanwhile."""

    def __init__(self, what: str, got: object, expected: object, said: str = "") -> None:
        super().__init__(what)
        self.what, self.got, self.expected, self.said = what, got, expected, said

    def __str__(self) -> str:
        """Where the two part, and the last lines that were printed."""
        got, expected, place = self.got, self.expected, ""
        if isinstance(got, list) and isinstance(expected, list):
            first = _first_difference(got, expected)
            place = f", first at {first} (of {len(got)}; {len(expected)} expected)"
            got, expected = got[first : first + 2], expected[first : first + 2]
        printed = "".join(f"\n  | {line}" for line in self.said.splitlines()[-8:])
        return f"{self.what}{place}:\n  got      {_short(got)}\n  expected {_short(expected)}{printed}"


def _short(value: object) -> str:
    shown = str(value)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"


def _first_difference(got: Sequence[object], expected: Sequence[object]) -> int:
    pairs = zip(got, expected, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(got), len(expected)))


def same(what: str, got: object, expected: object, said: str = "") -> None:
    """Raise a difference where there is one."""
    if got != expected:
        raise DifferenceError(what, got, expected, said)
