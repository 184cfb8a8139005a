"""What the random cases are: valid, of great variety, and runnable as real commands."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, find, given, settings

from .cases import MAIN, Case
from .execution import Trial, command, prepare
from .model import CHILD_TEMPLATE, STEP_TEMPLATE, Goto, Leaf, Retry, Runbook, Runbooks, Step, Substep
from .render import RESERVED
from .strategies import cases
from .visits import Visit

BOUNDED = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

Unit = Step | Substep


def units(runbook: Runbook) -> Iterator[tuple[Step, Unit]]:
    """Every unit with the step that it stands in."""
    for step in runbook.steps:
        yield step, step
        for child in step.children:
            yield step, child


def jumps(unit: Unit) -> Iterator[Goto]:
    for result in (unit.transitions.on_pass, unit.transitions.on_fail):
        action = result.then if isinstance(result, Retry) else result
        if isinstance(action, Goto):
            yield action


def check_jump(runbook: Runbook, step: Step, unit: Unit, goto: Goto) -> None:
    """V10, said again from the side of the target."""
    if goto.step is None:
        assert step.ident == STEP_TEMPLATE or unit.ident == CHILD_TEMPLATE
        return
    target = next(other for other in runbook.steps if other.ident == goto.step)
    if goto.advance:
        assert goto.child == CHILD_TEMPLATE or (goto.child is None and goto.step == STEP_TEMPLATE)
    if goto.child is None:
        assert target is not unit or goto.step == STEP_TEMPLATE
        return
    child = next(other for other in target.children if other.ident == goto.child)
    assert child is not unit or goto.child == CHILD_TEMPLATE
    if goto.step == STEP_TEMPLATE and goto.child != CHILD_TEMPLATE:
        assert step is target


def check_numbers(idents: list[str]) -> None:
    """V2 and V5."""
    numbers = [int(ident) for ident in idents if ident.isdecimal()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(set(idents)) == len(idents)
    assert not RESERVED & set(idents)


@BOUNDED
@given(cases())
def test_cases_are_valid(case: Case) -> None:
    for runbook in chain([case.runbook], case.files.values()):
        idents = [step.ident for step in runbook.steps]
        check_numbers(idents)
        assert STEP_TEMPLATE not in idents or not any(step.is_numbered for step in runbook.steps)
        for step, unit in units(runbook):
            children = [child.ident for child in step.children]
            check_numbers(children)
            assert CHILD_TEMPLATE not in children or len(children) == 1
            # After the last substep a modifier would belong to the step (V8); on a leaf it only warns (V9).
            assert unit is step or not unit.transitions.optimistic or not isinstance(unit.body, Leaf)
            for goto in jumps(unit):
                check_jump(runbook, step, unit, goto)


@BOUNDED
@given(cases())
def test_cases_walk_and_print(case: Case) -> None:
    assert case.walk() == case.walk()
    assert MAIN in repr(case)
    assert len(case.documents()) == 1 + len(case.files)


def _any_visit(test: Callable[[Visit], bool]) -> Callable[[Case], bool]:
    return lambda case: any(test(visit) for visit, _ in case.walk().visits)


def _any_unit(test: Callable[[Unit], bool]) -> Callable[[Case], bool]:
    return lambda case: any(test(unit) for _, unit in units(case.runbook))


FEATURES: dict[str, Callable[[Case], bool]] = {
    "third instance of {N}": _any_visit(lambda visit: (visit.step_instance or 0) > 2),
    "third instance of {n}": _any_visit(lambda visit: (visit.substep_instance or 0) > 2),
    "third attempt": _any_visit(lambda visit: visit.attempt == 3),
    "runbook two deep": _any_visit(lambda visit: visit.label.count(".runbook.md") == 2),
    "same path twice": _any_visit(lambda visit: "~2/" in visit.label),
    "prompt": _any_visit(lambda visit: not visit.is_command),
    "optimistic list": _any_unit(lambda unit: isinstance(unit.body, Runbooks) and unit.transitions.optimistic),
    "bare NEXT": _any_unit(lambda unit: Goto(advance=True) in jumps(unit)),
    "retry of a step": _any_unit(
        lambda unit: isinstance(unit, Step) and bool(unit.children) and isinstance(unit.transitions.on_fail, Retry)
    ),
}


@pytest.mark.parametrize("feature", FEATURES)
def test_feature_is_reached(feature: str) -> None:
    search = settings(max_examples=3000, derandomize=True, database=None, phases=[Phase.generate])
    find(cases(), FEATURES[feature], settings=search)


def run_by_hand(trial: Trial, case: Case) -> None:
    """Run the commands of the expected walk one by one, as a right program would."""
    for visit, passed in trial.walk.visits:
        if not visit.is_command:
            continue
        runbook = case.files[visit.file] if visit.file else case.runbook
        step_ident, _, child_ident = visit.unit.partition(".")
        step = next(step for step in runbook.steps if step.ident == step_ident)
        body = next((child.body for child in step.children if child.ident == child_ident), step.body)
        assert isinstance(body, Leaf)
        names = ("RDC_ATTEMPT", "RDC_STEP_INSTANCE", "RDC_SUBSTEP_INSTANCE")
        numbers = (visit.attempt, visit.step_instance, visit.substep_instance)
        known = {name: str(number) for name, number in zip(names, numbers, strict=True) if number}
        code = command(visit.file, visit.unit, body)
        done = subprocess.run(["sh", "-c", code], env={**trial.environment, **known}, check=False)
        assert (done.returncode == 0) == passed


@settings(BOUNDED, max_examples=15)
@given(cases(most=2))
def test_commands_log_their_visit_and_end_as_the_script_says(case: Case) -> None:
    assume(case.walk().end is not None)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        trial = prepare(Path(folder), case)
        run_by_hand(trial, case)
        assert trial.logged() == trial.expected()
        outcomes = ["pass" if passed else "fail" for visit, passed in trial.walk.visits if not visit.is_command]
        assert trial.answers.read_text(encoding="utf-8").split() == outcomes
        assert trial.main.name == MAIN
