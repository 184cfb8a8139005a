"""Repetitions in a sequence, folded: what is done again and again is shown once, with how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from msgspec import Struct

MOST_PERIODS = 8
"""At each place: how many lengths of a part that may be repeated are tried."""


class Turns(Struct, frozen=True):
    """Items that are done so many times in a row, and where the first of them stands in the sequence."""

    items: tuple[Run, ...]
    times: int


class Run(NamedTuple):
    """An item that is done so many times in a row; `place` is that of the first in the sequence."""

    item: str
    times: int
    place: int

    @property
    def said(self) -> tuple[str, int]:
        """What makes two runs the same wherever they stand."""
        return self.item, self.times


def folded(sequence: Sequence[str]) -> Iterator[Turns]:
    """A sequence as turns: first equal neighbours are one run, then equal parts of several runs are one."""
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
    """For each run the place of the next one that says the same; that of the end if there is none."""
    nearest: dict[object, int] = {}
    later = [len(runs)] * len(runs)
    for place in range(len(runs) - 1, -1, -1):
        later[place] = nearest.get(runs[place].said, len(runs))
        nearest[runs[place].said] = place
    return later


def _repeated(runs: Sequence[Run], later: Sequence[int], place: int) -> tuple[int, int]:
    """The length of the part at a place whose repetition folds the most, and how often it is done."""
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
