"""Chance, by a seed, for whoever draws random documents."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Some = TypeVar("Some")


class Chance:
    """What is drawn after a seed: the same each time."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

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
