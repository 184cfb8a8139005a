"""Fold repetitions in a sequence: show them once, with their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from msgspec import Struct

MOST_PERIODS = 8
"""The number of period lengths to try at each position."""


class Turns(Struct, frozen=True):
    """Items that repeat together in a row, and the number of repetitions."""

    items: tuple[Run, ...]
    times: int


class Run(NamedTuple):
    """An item that repeats in a row. `place` is the position of the first one."""

    item: str
    times: int
    place: int

    @property
    def said(self) -> tuple[str, int]:
        """The key of equal runs, without their position."""
        return self.item, self.times


def folded(sequence: Sequence[str]) -> Iterator[Turns]:
    """Yield a sequence as turns: equal neighbors become one run, then equal groups of runs become one turn."""
    runs = list(_runs(sequence))
    later = _later(runs)
    place = 0
    while place < len(runs):
        period, times = _repeated(runs, later, place)
        yield Turns(tuple(runs[place : place + period]), times)
        place += period * times


def _runs(sequence: Sequence[str]) -> Iterator[Run]:
    place = 0
    for item, found in groupby(sequence):
        times = sum(1 for _ in found)
        yield Run(item, times, place)
        place += times


def _later(runs: Sequence[Run]) -> list[int]:
    """Return for each run the position of the next equal one, or the end."""
    nearest: dict[object, int] = {}
    later = [len(runs)] * len(runs)
    for place in range(len(runs) - 1, -1, -1):
        later[place] = nearest.get(runs[place].said, len(runs))
        nearest[runs[place].said] = place
    return later


def _repeated(runs: Sequence[Run], later: Sequence[int], place: int) -> tuple[int, int]:
    """Return the length of the group at a position that saves the most when folded, and its repetitions."""
    best = (1, 1)
    for period in islice(_periods(later, place), MOST_PERIODS):
        part = [run.said for run in runs[place : place + period]]
        times = 1
        while [run.said for run in runs[place + times * period : place + (times + 1) * period]] == part:
            times += 1
        if period * (times - 1) > best[0] * (best[1] - 1):
            best = (period, times)
    return best


def _periods(later: Sequence[int], place: int) -> Iterator[int]:
    following = later[place]
    while following < len(later):
        yield following - place
        following = later[following]
