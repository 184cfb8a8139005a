"""What runs a case, one driver for each target and way to run it: each is compared with the path by the rules."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from backends.registry import load
from compiler.ir.features import Feature, features_of
from tests.differential.case import Case, Json, Trace, same
from tests.differential.drivers import dbos, github, make, python, semantics
from tests.differential.drivers.dbos import missing as no_dbos
from tests.differential.drivers.workspace import Workspace, workspace
from tests.differential.oracles.program import path_of
from tests.support.actions_engine import missing as node

LONGEST = 25
"""Each call is a process; longer paths show little that short ones do not."""

LONGEST_PAUSES = 8
"""Seconds of a whole path."""

SIMPLE = {"shell", "ask", "branch", "end"}
"""The tasks of programs that a person can take through by yes and no."""


@dataclass(frozen=True)
class Driver:
    """A driver. `compare` raises a `DifferenceError`, and gives False if there is nothing to compare."""

    compare: Callable[[Workspace], bool]
    backend: str
    needs_questions: bool = False
    is_simple: bool = False
    """Whether it takes commands and questions for yes and no alone."""
    of_documents: bool = False
    """Whether it takes documents of commands and questions only, no programs in JSON."""
    kind: str = ""
    """The kind of runbooks that its target mostly takes, if not any."""
    unfit: str = ""
    """What no variable may hold: act takes what it is given for an expression once more."""
    names: bool = True
    """Whether commands may name the variables of a run."""
    jumps: bool = False
    """Whether an operator jumps."""
    slow: float = 0.0
    """Seconds that each call takes, where it is to be killed in the middle."""
    every: int = 1
    """In which share of the cases the soak takes a driver that is slow."""
    missing: Callable[[], str] = str
    """Tells what this machine lacks for it, if anything."""

    @property
    def carries(self) -> frozenset[Feature]:
        """The features that the target declares to express."""
        return load(self.backend).features

    def takes(self, case: Case, taken: Trace) -> bool:
        """Whether there is something to compare."""
        asks = any(visit.question for visit in taken.visits)
        if taken.end is None or len(taken.visits) > LONGEST or (taken.jumps and not self.jumps):
            return False
        if self.needs_questions and not asks and not taken.jumps:
            return False
        hanging = sum(
            1 for replies in case.replies.values() for reply in replies if case.documents and reply.get("hangs")
        )
        if sum(taken.pauses(case.program)) + hanging > LONGEST_PAUSES:
            return False
        return self._fits(case, taken) and features_of(case.compiled) <= self.carries

    def _fits(self, case: Case, taken: Trace) -> bool:
        variables = [value for visit in taken.visits for call in visit.calls for value in call.variables.values()]
        if self.unfit and case.documents and any(self.unfit in value for value in variables):
            return False
        if self.backend == "github" and case.documents and not all(case.inputs.values()):
            return False  # GitHub cannot tell an empty value from none
        if self.of_documents and not case.documents:
            return False
        return not (self.is_simple or self.of_documents) or is_simple(case, taken)


def is_simple(case: Case, taken: Trace) -> bool:
    """Whether a case has only commands, and questions that are answered with yes and no."""
    kinds = {"value" if each["task"].get("value") else each["task"]["kind"] for each in case.program["nodes"]}
    return kinds <= SIMPLE and all(visit.question is None or visit.word in ("pass", "fail") for visit in taken.visits)


ACT: Any = {"backend": "github", "unfit": "${{"}
ENGINE: Any = {"backend": "github", "missing": node}
QUESTIONS: Any = {"needs_questions": True, "of_documents": True}

DRIVERS = {
    "python": Driver(python.compare, "python"),
    "python-script": Driver(python.compare_script, "python", is_simple=True),
    "python-waiting": Driver(python.compare_in_pieces, "python", needs_questions=True, jumps=True),
    "python-steps": Driver(python.compare_by_steps, "python", every=4),
    "python-prompted": Driver(python.compare_prompted, "python", of_documents=True, jumps=True, every=4),
    "python-killed": Driver(python.compare_killed, "python", slow=0.03, every=3),
    "rdc-run": Driver(python.compare_in_place, "python", of_documents=True, every=8),
    "make": Driver(make.compare, "make"),
    "make-waiting": Driver(make.compare_in_pieces, "make", needs_questions=True, jumps=True),
    "make-prompted": Driver(make.compare_prompted, "make", of_documents=True, jumps=True, every=4),
    "make-killed": Driver(make.compare_killed, "make", slow=0.03, every=3),
    "make-plain": Driver(make.compare_plain, "make", of_documents=True, kind="lines", names=False),
    "dbos": Driver(dbos.compare, "dbos", every=3, missing=no_dbos),
    "dbos-waiting": Driver(dbos.compare_in_pieces, "dbos", needs_questions=True, jumps=True, every=3, missing=no_dbos),
    "github": Driver(partial(github.compare, run=github.by_act), **ACT, every=2),
    "github-agent": Driver(partial(github.compare_with_agent, run=github.by_act), **ACT, **QUESTIONS, every=4),
    "github-reviews": Driver(github.compare_reviewed_by_act, **ACT, **QUESTIONS, kind="questions", every=4),
    "engine": Driver(partial(github.compare, run=github.by_engine), **ENGINE),
    "engine-agent": Driver(partial(github.compare_with_agent, run=github.by_engine), **ENGINE, **QUESTIONS),
    "engine-steps": Driver(github.compare_in_environments, **ENGINE, of_documents=True, every=4),
    "engine-reviews": Driver(github.compare_reviewed, **ENGINE, **QUESTIONS, kind="questions"),
}
SEMANTICS = "semantics"
"""The driver that runs nothing."""

NAMES = (SEMANTICS, *DRIVERS)


def carried(name: str) -> frozenset[Feature]:
    return frozenset(Feature) if name == SEMANTICS else DRIVERS[name].carries


def missing(name: str) -> str:
    """What this machine lacks for a driver, "" for nothing."""
    return "" if name == SEMANTICS else DRIVERS[name].missing()


def is_lacking(declared: Json, case: Case) -> bool:
    is_required = declared.get("required", True) and declared.get("default") is None
    return is_required and declared["name"] not in case.inputs


def try_driver(name: str, case: Case) -> bool:
    """Run a case with one driver; False if there is nothing to compare."""
    lacking = [each["name"] for each in case.program.get("inputs", []) if is_lacking(each, case)]
    same("required inputs that the case lacks", lacking, [])
    taken = path_of(case)
    if name == SEMANTICS:
        return semantics.compare(case, taken)
    driver = DRIVERS[name]
    if not driver.takes(case, taken):
        return False
    with workspace(case if driver.names else case.unnamed, taken, driver.slow) as prepared:
        return driver.compare(prepared)
