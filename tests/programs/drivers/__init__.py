"""The drivers that run a case: each is compared with the path by the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backends.registry import load
from compiler.ir.features import Feature, features_of
from tests.equivalence.workers import missing as no_dbos
from tests.programs.cases import Case, Trace
from tests.programs.drivers import dbos, github, make, python, semantics
from tests.programs.oracle import walk
from tests.programs.workspace import Workspace, workspace
from tests.support.actions_engine import missing as node
from tests.support.program_json import from_json

LONGEST = 25
"""Each call is a process; longer paths show little that short ones do not."""

LONGEST_PAUSES = 8
"""Seconds of a whole path."""


@dataclass(frozen=True)
class Driver:
    """A driver. `compare` raises a `DifferenceError`, and gives False if there is nothing to compare."""

    compare: Callable[[Workspace], bool]
    backend: str
    needs_questions: bool = False
    slow: float = 0.0
    """Seconds that each call takes, where it is to be killed in the middle."""
    every: int = 1
    """In which share of the cases the soak takes a driver that is slow."""
    missing: Callable[[], str] = str
    """Says what this machine lacks for it, if anything."""

    @property
    def carries(self) -> frozenset[Feature]:
        """What the target says that it can express."""
        return load(self.backend).features

    def takes(self, case: Case, taken: Trace) -> bool:
        """Whether there is something to compare."""
        asks = any(visit.question for visit in taken.visits)
        if taken.end is None or len(taken.visits) > LONGEST or (self.needs_questions and not asks):
            return False
        if sum(taken.pauses(case.program)) > LONGEST_PAUSES:
            return False
        return features_of(from_json(case.text)) <= self.carries


DRIVERS = {
    "python": Driver(python.compare, "python"),
    "python-waiting": Driver(python.compare_in_pieces, "python", needs_questions=True),
    "python-killed": Driver(python.compare_killed, "python", slow=0.03, every=3),
    "make": Driver(make.compare, "make"),
    "make-waiting": Driver(make.compare_in_pieces, "make", needs_questions=True),
    "make-killed": Driver(make.compare_killed, "make", slow=0.03, every=3),
    "dbos": Driver(dbos.compare, "dbos", every=3, missing=no_dbos),
    "dbos-waiting": Driver(dbos.compare_in_pieces, "dbos", needs_questions=True, every=3, missing=no_dbos),
    "github": Driver(github.compare, "github", every=2),
    "engine": Driver(github.compare_by_engine, "github", missing=node),
}
SEMANTICS = "semantics"
"""The driver that runs nothing."""

NAMES = (SEMANTICS, *DRIVERS)


def carried(name: str) -> frozenset[Feature]:
    """The features of programs that a driver takes."""
    return frozenset(Feature) if name == SEMANTICS else DRIVERS[name].carries


def missing(name: str) -> str:
    """What this machine lacks for a driver, "" for nothing."""
    return "" if name == SEMANTICS else DRIVERS[name].missing()


def try_driver(name: str, case: Case) -> bool:
    """Run a case with one driver; False if there is nothing to compare."""
    taken = walk(case)
    if name == SEMANTICS:
        return semantics.compare(case, taken)
    driver = DRIVERS[name]
    if not driver.takes(case, taken):
        return False
    with workspace(case, taken, driver.slow) as prepared:
        return driver.compare(prepared)
