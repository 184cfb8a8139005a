"""Cases made smaller in the terms of the model, where taking away what was drawn at random leaves too much.

Not all that is proposed is a valid document; who asks for it finds out by compiling it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from tests.equivalence.cases import MAIN, Case, Outcomes
from tests.equivalence.model import (
    UNDECLARED,
    Continue,
    Goto,
    Leaf,
    Result,
    Retry,
    Runbook,
    Runbooks,
    Step,
    Substep,
    Substeps,
    Transitions,
)
from tests.equivalence.render import PLAIN
from tests.equivalence.strategies import included

PLAIN_OUTCOMES = (Outcomes((False,) * 40), Outcomes((True,) * 40))
SIMPLE = Leaf(code="true", info="sh")

AnyStep = TypeVar("AnyStep", Step, Substep)
Renamed = Mapping[tuple[str, str | None], tuple[str, str | None]]


def made_smaller(case: Case, still: Callable[[Case], bool], seconds: float) -> Case:
    """The smallest case found within a time that is still what it shall be."""
    until = time.monotonic() + seconds
    found: Case | None = case
    while found:
        case = found
        candidates = (smaller for smaller in _smaller(case) if time.monotonic() < until)
        found = next((smaller for smaller in candidates if smaller != case and still(smaller)), None)
    return case


def _smaller(case: Case) -> Iterator[Case]:
    yield replace(case, style=PLAIN)
    yield replace(case, main=MAIN)
    yield replace(case, jumps=())
    if case.outcomes not in PLAIN_OUTCOMES:
        yield from (replace(case, outcomes=outcomes) for outcomes in PLAIN_OUTCOMES)
    told = Outcomes(tuple(passed for _, passed in case.walk().visits))
    for runbook in _smaller_runbooks(case.runbook):
        fewer = replace(case, runbook=runbook, files=included(runbook, dict(case.files)))
        yield fewer
        if len(runbook.steps) < len(case.runbook.steps):  # what is gone may have had the first outcome
            yield replace(fewer, outcomes=replace(told, start=told.start[1:]))
    for path, nested in case.files.items():
        for runbook in _smaller_runbooks(nested):
            files = {**case.files, path: runbook}
            yield replace(case, files=included(case.runbook, files))


def _smaller_runbooks(runbook: Runbook) -> Iterator[Runbook]:
    yield replace(runbook, title="", description="", name="", summary="")
    yield replace(runbook, declared=UNDECLARED)
    yield from (
        replace(runbook, declared=replace(runbook.declared, **{key: ()})) for key in ("steps", "secrets", "outputs")
    )
    for index, step in enumerate(runbook.steps):
        if len(runbook.steps) > 1:
            yield _without_step(runbook, index)
        for number in range(len(step.children)):
            if len(step.children) > 1:
                yield _without_child(runbook, index, number)
        for smaller in _smaller_steps(step):
            yield replace(runbook, steps=(*runbook.steps[:index], smaller, *runbook.steps[index + 1 :]))


def _smaller_steps(step: Step) -> Iterator[Step]:
    yield from _smaller_parts(step)
    if not isinstance(step.body, Substeps):
        return
    yield replace(step, body=replace(step.body, prompt=""))
    for index, child in enumerate(step.children):
        for smaller in _smaller_parts(child):
            children = (*step.children[:index], smaller, *step.children[index + 1 :])
            yield replace(step, body=replace(step.body, children=children))


def _smaller_parts(step: AnyStep) -> Iterator[AnyStep]:
    yield replace(step, body=SIMPLE)
    yield replace(step, transitions=Transitions())
    yield replace(step, title="")
    for on_pass, on_fail in ((None, step.transitions.on_fail), (step.transitions.on_pass, None)):
        if on_pass or on_fail:
            yield replace(step, transitions=replace(step.transitions, on_pass=on_pass, on_fail=on_fail))
    own = step.transitions
    yield replace(step, transitions=replace(own, on_pass=_once(own.on_pass), on_fail=_once(own.on_fail)))
    if isinstance(step.body, Runbooks):
        for index in range(len(step.body.paths)):
            paths = step.body.paths[:index] + step.body.paths[index + 1 :]
            if paths:
                yield replace(step, body=Runbooks(paths))
    elif isinstance(step.body, Leaf):
        yield replace(step, body=replace(step.body, prompt=""))


def _once(result: Result | None) -> Result | None:
    return replace(result, count=1) if isinstance(result, Retry) else result


def _without_step(runbook: Runbook, index: int) -> Runbook:
    steps = runbook.steps[:index] + runbook.steps[index + 1 :]
    names = _numbered([step.ident for step in steps])
    renamed: dict[tuple[str, str | None], tuple[str, str | None]] = {}
    for step, name in zip(steps, names, strict=True):
        renamed |= {(step.ident, child): (name, child) for child in (None, *(child.ident for child in step.children))}
    kept = tuple(replace(step, ident=name) for step, name in zip(steps, names, strict=True))
    return _renamed(replace(runbook, steps=kept), renamed)


def _without_child(runbook: Runbook, index: int, number: int) -> Runbook:
    step = runbook.steps[index]
    assert isinstance(step.body, Substeps)
    children = step.children[:number] + step.children[number + 1 :]
    names = _numbered([child.ident for child in children])
    renamed = {
        (other.ident, ident): (other.ident, ident)
        for other in runbook.steps
        for ident in (None, *(child.ident for child in other.children if other is not step))
    }
    renamed |= {(step.ident, child.ident): (step.ident, name) for child, name in zip(children, names, strict=True)}
    kept = tuple(replace(child, ident=name) for child, name in zip(children, names, strict=True))
    smaller = replace(step, body=replace(step.body, children=kept))
    return _renamed(replace(runbook, steps=(*runbook.steps[:index], smaller, *runbook.steps[index + 1 :])), renamed)


def _numbered(idents: list[str]) -> list[str]:
    """V2: numbers without a gap."""
    numbers = iter(range(1, len(idents) + 1))
    return [str(next(numbers)) if ident.isdecimal() else ident for ident in idents]


def _renamed(runbook: Runbook, names: Renamed) -> Runbook:
    """With jumps to the new names; one to what is gone is a CONTINUE."""

    def result(found: Result | None) -> Result | None:
        if isinstance(found, Retry):
            then = result(found.then)
            assert then is not None
            assert not isinstance(then, Retry)
            return Retry(found.count, then)
        if not isinstance(found, Goto) or found.step is None:
            return found
        target = names.get((found.step, found.child))
        return Goto(*target, advance=found.advance) if target else Continue()

    def renamed(node: AnyStep) -> AnyStep:
        own = node.transitions
        return replace(node, transitions=Transitions(result(own.on_pass), result(own.on_fail), own.optimistic))

    def whole(step: Step) -> Step:
        if isinstance(step.body, Substeps):
            step = replace(step, body=replace(step.body, children=tuple(renamed(child) for child in step.children)))
        return renamed(step)

    return replace(runbook, steps=tuple(whole(step) for step in runbook.steps))
