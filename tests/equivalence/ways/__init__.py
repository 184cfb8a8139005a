"""The ways in which a scenario can be run: each is compared with the walk that the rules ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from tests.equivalence.cases import Case, tables
from tests.equivalence.execution import Trial, trial
from tests.equivalence.scenario import Scenario, fits_a_table, scenario, tabled
from tests.equivalence.ways import engine, github, make, python, semantics
from tests.workflows.engine import missing as node

LONGEST = 25
"""Each command is a process with two or three of its own; longer walks show little that short ones do not."""

LONGEST_WAITING = 4
"""Seconds that a walk waits for timeouts and between attempts."""


@dataclass(frozen=True)
class Way:
    """One way to run. `compare` raises a `DifferenceError`, and gives False if the target refuses such documents."""

    compare: Callable[[Trial], bool]
    backend: str = ""
    """The target whose output is run."""
    needs_prompts: bool = False
    runs: bool = True
    """Whether commands are run: then the walk must have an end, and not be long."""
    tables: int = 0
    """How many tables of outcomes the commands of a document are answered from, besides the run by real shells."""
    flow_only: bool = False
    """Whether a walk by a table shows the flow alone, and so needs no folder of its own."""
    unfit: str = ""
    """What no variable may hold: act takes what it is given for an expression once more."""
    jumps: bool = False
    """Whether an operator jumps; elsewhere the case is tried without the jumps."""
    every: int = 1
    """In which share of its cases the soak takes a way that is slow and much like another."""
    missing: Callable[[], str] = str
    """Says what this machine lacks for it, if anything; tests then skip the way, and the soak leaves it out."""

    def takes(self, scenario: Scenario) -> bool:
        """Whether there is something to compare."""
        visits, end = scenario.walk.visits, scenario.walk.end
        if scenario.walk.jumps and not self.jumps:
            return False
        if self.backend == "github" and not all(value for _, value in scenario.walk.given.inputs):
            return False  # GitHub cannot tell an empty value from none
        if self.unfit and any(self.unfit in value for visit, _ in visits for _, value in visit.beyond.sees):
            return False
        if self.runs and (end is None or len(visits) > LONGEST or scenario.walk.seconds > LONGEST_WAITING):
            return False
        return scenario.asks or not self.needs_prompts or bool(scenario.walk.jumps)


WAYS = {
    "semantics": Way(semantics.compare, runs=False, jumps=True),
    "python": Way(python.compare, "python"),
    "python-waiting": Way(python.compare_in_pieces, "python", needs_prompts=True, jumps=True),
    "python-prompted": Way(python.compare_prompted, "python", jumps=True, every=4),
    "rdc-run": Way(python.compare_in_place, "python", every=8),
    "make": Way(make.compare, "make"),
    "make-waiting": Way(make.compare_in_pieces, "make", needs_prompts=True, jumps=True),
    "make-prompted": Way(make.compare_prompted, "make", jumps=True, every=4),
    "github": Way(github.compare, "github", unfit="${{"),
    "github-waiting": Way(github.compare_in_pieces, "github", needs_prompts=True, unfit="${{"),
    "github-agent": Way(github.compare_with_agent, "github", needs_prompts=True, unfit="${{"),
    "github-environment": Way(github.compare_with_approvals, "github", needs_prompts=True, unfit="${{"),
    "engine": Way(engine.compare, "github", tables=200, flow_only=True, missing=node),
    "engine-waiting": Way(engine.compare_in_pieces, "github", needs_prompts=True, tables=6, missing=node),
    "engine-agent": Way(engine.compare_with_agent, "github", needs_prompts=True, tables=6, missing=node),
    "engine-units": Way(engine.compare_in_environments, "github", tables=6, every=4, missing=node),
    "engine-environment": Way(engine.compare_with_approvals, "github", needs_prompts=True, tables=6, missing=node),
}


def try_way(name: str, scenario: Scenario) -> bool:
    """Run a scenario in one way, in a folder of its own; False if there is nothing to compare."""
    way = WAYS[name]
    if not way.takes(scenario):
        return False
    with trial(scenario) as prepared:
        return way.compare(prepared)


Attempt = tuple[Case, Callable[[], bool]]
"""A case with its outcomes, and what runs it in a way; that gives False if there is nothing to compare."""


@contextmanager
def attempts(name: str, case: Case) -> Iterator[list[Attempt]]:
    """What a way tries of a case, to be run within: its own outcomes, and tables of others for the same documents."""
    case = case if WAYS[name].jumps else replace(case, jumps=())
    once = (case, partial(try_way, name, scenario(case)))
    if not WAYS[name].tables or not fits_a_table(case):
        yield [once]
        return
    with trial(tabled(case)) as prepared:
        yield [
            once,
            *((other, partial(_try_table, name, prepared, other)) for other in tables(case, WAYS[name].tables)),
        ]


def _try_table(name: str, prepared: Trial, case: Case) -> bool:
    way = WAYS[name]
    again = prepared.along if way.flow_only else prepared.again
    other = again(case.walk())
    return way.takes(other.scenario) and way.compare(other)
