"""A scenario: documents as real files, whose commands log their visits, and the path that they must take."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.equivalence.cases import Case
from tests.equivalence.model import Leaf
from tests.equivalence.render import render, render_files
from tests.equivalence.visits import Trace

FOLDER_VARIABLE = "YARDSTICK"

OWN = "${RDC_RUN_ID:+}${RDC_ATTEMPT:+}"
"""Names the variables that a visit looks at, and is nothing: a command that does not name them may not have them."""

CALL = "@VISIT@"
"""Stands in the code of a step for the command that logs the visit; such code is run as it is."""


@dataclass(frozen=True)
class Scenario:
    """Documents by path, which of them is run, and its path."""

    documents: Mapping[str, str]
    main: str
    trace: Trace
    is_tabled: bool = False
    """Whether an engine may answer the commands itself by the table of outcomes: all that they do is to visit."""
    variables: tuple[str, ...] = ()
    """The variables that documents speak of: what a command sees of them is compared."""

    @property
    def asks(self) -> bool:
        """Whether the path has a prompt."""
        return any(not visit.is_command for visit, _ in self.trace.visits)


def scenario(case: Case) -> Scenario:
    """What a case is when it is run."""
    documents = {case.main: render(case.runbook, case.style, code_of=command)}
    documents |= render_files(case.files, case.style, code_of=command)
    return Scenario(documents, case.main, case.walk(), variables=variables(case))


def variables(case: Case) -> tuple[str, ...]:
    """All names that the documents of a case declare."""
    declared = [runbook.declared for runbook in (case.runbook, *case.files.values())]
    constants = [name for each in declared for _, says in each.steps for name, _ in says.env]
    names = [name for each in declared for name in (*each.names, *each.secrets)]
    return tuple(sorted({*names, *constants}))


def unnamed(scenario: Scenario) -> Scenario:
    """The same documents, whose commands name no variables: a target refuses those that belong to no run."""
    return replace(scenario, documents={path: text.replace(OWN, "") for path, text in scenario.documents.items()})


def fits_a_table(case: Case) -> bool:
    """Whether outcomes are all that a path of a case depends on: it has neither values nor time limits."""
    declared = [runbook.declared for runbook in (case.runbook, *case.files.values())]
    return not variables(case) and all(says.timeout is None for each in declared for _, says in each.steps)


def tabled(case: Case) -> Scenario:
    """A case whose commands only visit, so that a table can answer them; their codes and arguments are not run."""
    documents = {case.main: render(case.runbook, case.style, code_of=visit)}
    documents |= render_files(case.files, case.style, code_of=visit)
    return Scenario(documents, case.main, _without_arguments(case.walk()), is_tabled=True)


def with_walk(scenario: Scenario, trace: Trace) -> Scenario:
    """The same documents with the outcomes of another path."""
    return replace(scenario, trace=_without_arguments(trace) if scenario.is_tabled else trace)


def _without_arguments(trace: Trace) -> Trace:
    return replace(trace, visits=tuple((replace(visit, said=()), passed) for visit, passed in trace.visits))


def command(path: str, label: str, leaf: Leaf) -> str:
    """The code of a step: with the call where it says so, else made harmless as one quoted argument before the call.

    `@` stands for the braces of `{N}`: as a placeholder it would be replaced by the instance (M5).
    """
    call, code = f'sh "${FOLDER_VARIABLE}/visit{OWN}" {_names(path, label)}', leaf.code or ""
    return code.replace(CALL, call) if CALL in code else f": {shlex.quote(code)}\n{call}"


def visit(path: str, label: str, leaf: Leaf) -> str:
    """The code of a step made harmless, and a visit by the shell that runs it, without a process of its own."""
    return f': {shlex.quote(leaf.code or "")} "{OWN}"\nset -- {_names(path, label)}; . "${FOLDER_VARIABLE}/visit"'


def _names(path: str, label: str) -> str:
    return " ".join(shlex.quote(text.replace("{N}", "@N").replace("{n}", "@n")) for text in (label, path or "-"))
