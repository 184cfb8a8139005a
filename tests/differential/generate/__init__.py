"""Drawing at random, cheaply, by hypothesis or by a seed alone.

A case needs hundreds of draws, and making a strategy costs more than drawing from it. Hypothesis likes simple cases and
those that are like others; a seed draws evenly.
"""

import random
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

Some = TypeVar("Some")

_NUMBERS: dict[int, int] = {}
"""How many values a strategy has, by its identity."""


@cache
def _below(number: int) -> st.SearchStrategy[int]:
    found = st.integers(0, number - 1)
    _NUMBERS[id(found)] = number
    return found


class Chance:
    """What is drawn after a seed: the same each time."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, strategy: st.SearchStrategy[Any], label: object = None) -> Any:
        """One of the values of a strategy of this module."""
        return self._random.randrange(_NUMBERS[id(strategy)])

    def _flag(self) -> bool:
        return self._random.random() < 0.5

    def _rarely(self, share: int) -> bool:
        return self._random.randrange(share) == 0

    def _number(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def _pick(self, some: Sequence[Some]) -> Some:
        return self._random.choice(some)

    def _some(self, some: Sequence[Some], least: int, most: int) -> list[Some]:
        return self._random.sample(some, self._number(least, most))


def number(draw: st.DrawFn, least: int, most: int) -> int:
    return least + draw(_below(most - least + 1))


def flag(draw: st.DrawFn) -> bool:
    return draw(_below(2)) == 1


def rarely(draw: st.DrawFn, share: int = 8) -> bool:
    return draw(_below(share)) == share - 1


def pick(draw: st.DrawFn, some: Sequence[Some]) -> Some:
    """One of some; the first is the simplest."""
    return some[draw(_below(len(some)))]


def picks(draw: st.DrawFn, some: Sequence[Some], least: int, most: int) -> list[Some]:
    """Different ones of some, in any order."""
    left = list(some)
    return [left.pop(draw(_below(len(left)))) for _ in range(min(number(draw, least, most), len(left)))]
