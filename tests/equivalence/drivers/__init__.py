"""What runs a scenario: each is compared with the path that the rules ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from hypothesis.strategies import SearchStrategy

from tests.equivalence.cases import Case, tables
from tests.equivalence.drivers import dbos, engine, github, make, native, python, semantics
from tests.equivalence.execution import Workspace, workspace
from tests.equivalence.scenario import Scenario, fits_a_table, scenario, tabled, unnamed
from tests.equivalence.strategies import cases, lines, questions
from tests.equivalence.workers import missing as no_dbos
from tests.support.actions_engine import missing as node

LONGEST = 25
"""Each command is a process with two or three of its own; longer paths show little that short ones do not."""

LONGEST_WAITING = 4
"""Seconds that a path waits for timeouts and between attempts."""


@dataclass(frozen=True)
class Driver:
    """A driver. `compare` raises a `DifferenceError`, and gives False if the target refuses such documents."""

    compare: Callable[[Workspace], bool]
    backend: str = ""
    """The target whose output is run."""
    needs_prompts: bool = False
    runs: bool = True
    """Whether commands are run: then the path must have an end, and not be long."""
    tables: int = 0
    """How many tables of outcomes the commands of a document are answered from, besides the run by real shells."""
    flow_only: bool = False
    """Whether a path by a table shows the flow alone, and so needs no folder of its own."""
    unfit: str = ""
    """What no variable may hold: act takes what it is given for an expression once more."""
    documents: Callable[[], SearchStrategy[Case]] = cases
    """What is drawn for it: the whole language, or only documents that its target mostly takes."""
    names: bool = True
    """Whether commands may name the variables of a run."""
    jumps: bool = False
    """Whether an operator jumps; elsewhere the case is tried without the jumps."""
    every: int = 1
    """In which share of its cases the soak takes a driver that is slow and much like another."""
    missing: Callable[[], str] = str
    """Says what this machine lacks for it, if anything; tests then skip the driver, and the soak leaves it out."""

    def takes(self, scenario: Scenario) -> bool:
        """Whether there is something to compare."""
        visits, end = scenario.trace.visits, scenario.trace.end
        if scenario.trace.jumps and not self.jumps:
            return False
        if self.backend == "github" and not all(value for _, value in scenario.trace.given.inputs):
            return False  # GitHub cannot tell an empty value from none
        if self.unfit and any(self.unfit in value for visit, _ in visits for _, value in visit.beyond.sees):
            return False
        if self.runs and (end is None or len(visits) > LONGEST or scenario.trace.seconds > LONGEST_WAITING):
            return False
        return scenario.asks or not self.needs_prompts or bool(scenario.trace.jumps)


DRIVERS = {
    "semantics": Driver(semantics.compare, runs=False, jumps=True),
    "python": Driver(python.compare, "python"),
    "script": Driver(python.compare_script, "python"),
    "python-waiting": Driver(python.compare_in_pieces, "python", needs_prompts=True, jumps=True),
    "python-steps": Driver(python.compare_by_steps, "python", every=4),
    "python-prompted": Driver(python.compare_prompted, "python", jumps=True, every=4),
    "rdc-run": Driver(python.compare_in_place, "python", every=8),
    "make": Driver(make.compare, "make"),
    "make-waiting": Driver(make.compare_in_pieces, "make", needs_prompts=True, jumps=True),
    "make-killed": Driver(make.compare_killed, "make", every=2),
    "make-prompted": Driver(make.compare_prompted, "make", jumps=True, every=4),
    "make-plain": Driver(make.compare_plain, "make", documents=lines, names=False),
    "dbos": Driver(dbos.compare, "dbos", every=4, missing=no_dbos),
    "dbos-waiting": Driver(dbos.compare_in_pieces, "dbos", needs_prompts=True, jumps=True, every=4, missing=no_dbos),
    "github": Driver(github.compare, "github", unfit="${{"),
    "github-agent": Driver(github.compare_with_agent, "github", needs_prompts=True, unfit="${{"),
    "github-environment": Driver(native.compare_by_act, "github", needs_prompts=True, documents=questions, unfit="${{"),
    "engine": Driver(engine.compare, "github", tables=200, flow_only=True, missing=node),
    "engine-agent": Driver(engine.compare_with_agent, "github", needs_prompts=True, tables=6, missing=node),
    "engine-steps": Driver(engine.compare_in_environments, "github", tables=6, every=4, missing=node),
    "engine-environment": Driver(
        native.compare, "github", needs_prompts=True, documents=questions, tables=6, missing=node
    ),
}


def try_driver(name: str, scenario: Scenario) -> bool:
    """Run a scenario with one driver, in a folder of its own; False if there is nothing to compare."""
    driver = DRIVERS[name]
    if not driver.takes(scenario):
        return False
    with workspace(scenario if driver.names else unnamed(scenario)) as prepared:
        return driver.compare(prepared)


Attempt = tuple[Case, Callable[[], bool]]
"""A case with its outcomes, and what runs it; that gives False if there is nothing to compare."""


@contextmanager
def attempts(name: str, case: Case) -> Iterator[list[Attempt]]:
    """What a driver tries of a case, to be run within: its own outcomes, and tables of others for its documents."""
    case = case if DRIVERS[name].jumps else replace(case, jumps=())
    once = (case, partial(try_driver, name, scenario(case)))
    if not DRIVERS[name].tables or not fits_a_table(case):
        yield [once]
        return
    with workspace(tabled(case)) as prepared:
        yield [
            once,
            *((other, partial(_try_table, name, prepared, other)) for other in tables(case, DRIVERS[name].tables)),
        ]


def _try_table(name: str, prepared: Workspace, case: Case) -> bool:
    driver = DRIVERS[name]
    again = prepared.along if driver.flow_only else prepared.again
    other = again(case.walk())
    return driver.takes(other.scenario) and driver.compare(other)
