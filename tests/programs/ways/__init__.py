"""The ways in which a case can be run: each is compared with the walk by the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backends.registry import load
from compiler.ir.features import Feature, features_of
from compiler.ir.serialise import from_json
from tests.programs.cases import Case, Walk
from tests.programs.oracle import walk
from tests.programs.trial import Trial, trial
from tests.programs.ways import github, make, python, semantics
from tests.workflows.engine import missing as node

LONGEST = 25
"""Each call is a process; longer walks show little that short ones do not."""

LONGEST_PAUSES = 8
"""Seconds of a whole walk."""


@dataclass(frozen=True)
class Way:
    """One way to run. `compare` raises a `DifferenceError`, and gives False if there is nothing to compare."""

    compare: Callable[[Trial], bool]
    backend: str
    needs_questions: bool = False
    slow: float = 0.0
    """Seconds that each call takes, where it is to be killed in the middle."""
    every: int = 1
    """In which share of the cases the soak takes a way that is slow."""
    missing: Callable[[], str] = str
    """Says what this machine lacks for it, if anything."""

    @property
    def carries(self) -> frozenset[Feature]:
        """What the target says that it can express."""
        return load(self.backend).features

    def takes(self, case: Case, taken: Walk) -> bool:
        """Whether there is something to compare."""
        asks = any(visit.question for visit in taken.visits)
        if taken.end is None or len(taken.visits) > LONGEST or (self.needs_questions and not asks):
            return False
        if sum(taken.pauses(case.program)) > LONGEST_PAUSES:
            return False
        return features_of(from_json(case.text)) <= self.carries


WAYS = {
    "python": Way(python.compare, "python"),
    "python-waiting": Way(python.compare_in_pieces, "python", needs_questions=True),
    "python-killed": Way(python.compare_killed, "python", slow=0.03, every=3),
    "make": Way(make.compare, "make"),
    "make-waiting": Way(make.compare_in_pieces, "make", needs_questions=True),
    "make-killed": Way(make.compare_killed, "make", slow=0.03, every=3),
    "github": Way(github.compare, "github", every=2),
    "engine": Way(github.compare_by_engine, "github", missing=node),
    "engine-waiting": Way(github.compare_in_pieces, "github", needs_questions=True, every=2, missing=node),
}
SEMANTICS = "semantics"
"""The way that runs nothing."""

NAMES = (SEMANTICS, *WAYS)


def carried(name: str) -> frozenset[Feature]:
    """The features of programs that a way takes."""
    return frozenset(Feature) if name == SEMANTICS else WAYS[name].carries


def missing(name: str) -> str:
    """What this machine lacks for a way, "" for nothing."""
    return "" if name == SEMANTICS else WAYS[name].missing()


def try_way(name: str, case: Case) -> bool:
    """Run a case in one way; False if there is nothing to compare."""
    taken = walk(case)
    if name == SEMANTICS:
        return semantics.compare(case, taken)
    way = WAYS[name]
    if not way.takes(case, taken):
        return False
    with trial(case, taken, way.slow) as prepared:
        return way.compare(prepared)
