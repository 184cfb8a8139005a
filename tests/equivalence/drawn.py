"""The soak of documents that are drawn by seeds, whatever their format: playbooks and agent workflows."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Generic, TypeVar

from tests.equivalence.difference import DifferenceError
from tests.programs.drivers import DRIVERS

Told = TypeVar("Told")

BATCH = 20
"""Documents from one seed."""

SHRINKING = 120.0
"""Seconds for making a document smaller."""

SHARES = {
    "semantics": 40,
    "python": 2,
    "python-waiting": 1,
    "python-killed": 1,
    "make": 1,
    "make-waiting": 1,
    "make-killed": 1,
    "dbos": 1,
    "dbos-waiting": 1,
    "github": 1,
    "engine": 1,
}
"""How many documents of a kind `make test` compares with each driver."""

THREADS = ThreadPoolExecutor(2)


@dataclass(frozen=True)
class Kind(Generic[Told]):
    """A kind of documents: how one is drawn, run by a driver, made smaller in steps, and shown.

    `prefix` stands before the names of drivers, where those of others stand beside them. `drivers` are those of the
    kind, where they are not those of programs.
    """

    noun: str
    draw: Callable[[int], Told]
    try_driver: Callable[[str, Told], bool]
    smaller: Callable[[Told], Iterator[Told]]
    shown: Callable[[Told], str]
    drivers: tuple[str, ...] = ()

    @property
    def prefix(self) -> str:
        """What the names of its drivers begin with."""
        return f"{self.noun}s-"


@dataclass(frozen=True)
class Finding(Generic[Told]):
    """A document, as small as it could be made, that a driver does not run as the rules say."""

    kind: Kind[Told]
    told: Told
    driver: str
    seed: int
    error: BaseException

    @property
    def what(self) -> str:
        """What differs, or where anything else was raised, and the document."""
        error = self.error
        said = str(error) if isinstance(error, DifferenceError) else "".join(traceback.format_exception(error)[-4:])
        return f"{said}\n{self.kind.shown(self.told)}"


@dataclass
class Soak(Generic[Told]):
    """What was tried, and the last difference that was found."""

    kind: Kind[Told]
    drivers: tuple[str, ...]
    until: float
    most: int
    counts: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    finding: Finding[Told] | None = None

    @property
    def is_over(self) -> bool:
        """Whether no further document is to be tried."""
        return time.monotonic() >= self.until or max(self.counts.values(), default=0) >= self.most

    @property
    def told(self) -> str:
        """What was tried, in words."""
        traces = ", ".join(f"{self.kind.prefix}{name} {self.counts[name]}" for name in self.drivers)
        return f"{self.documents} {self.kind.noun}s, paths: {traces}"

    def batch(self, number: int) -> Finding[Told] | None:
        """Try the documents of a seed."""
        for seed in range(number * BATCH, (number + 1) * BATCH):
            if self.is_over or self.finding:
                break
            self._try(seed)
        if self.finding:
            made_smaller(self.finding.told, self._shows, self.kind.smaller, SHRINKING)
        return self.finding

    def _try(self, seed: int) -> None:
        told = self.kind.draw(seed)
        self.documents += 1
        due = [name for name in self.drivers if name not in DRIVERS or self.documents % DRIVERS[name].every == 0]
        running = [(name, THREADS.submit(self.kind.try_driver, name, told)) for name in due]
        wait(future for _, future in running)
        for name, future in running:
            if error := future.exception():
                self.finding = Finding(self.kind, told, name, seed, error)
                return
            self.counts[name] += future.result()

    def _shows(self, told: Told) -> bool:
        """Whether a document shows what was found, which is then found in this one."""
        assert self.finding
        try:
            self.kind.try_driver(self.finding.driver, told)
        except Exception as error:  # noqa: BLE001 (what was found may be any)
            if str(error.args[:1]) == str(self.finding.error.args[:1]):
                self.finding = replace(self.finding, told=told, error=error)
                return True
        return False


def try_share(kind: Kind[Told], driver: str) -> None:
    """Compare some documents of a kind by a driver, always the same ones; raises `AssertionError` where one differs."""
    seeds, left = count(), SHARES[driver]
    while left:
        told = kind.draw(next(seeds))
        try:
            left -= kind.try_driver(driver, told)
        except Exception as error:
            raise AssertionError(f"{error}\n{kind.shown(told)}") from error


def made_smaller(
    told: Told, shows: Callable[[Told], bool], smaller: Callable[[Told], Iterable[Told]], seconds: float
) -> Told:
    """The smallest document that was found in the time."""
    until = time.monotonic() + seconds
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in smaller(told):
            if time.monotonic() > until:
                return told
            if shows(candidate):
                told, is_smaller = candidate, True
                break
    return told
