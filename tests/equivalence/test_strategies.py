"""What the random cases are: valid, of great variety, and runnable as real commands."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from itertools import chain

import pytest
from hypothesis import HealthCheck, assume, given, seed, settings

from tests.equivalence.cases import Case
from tests.equivalence.execution import Workspace, workspace
from tests.equivalence.features import EXPECTED, AnyStep, all_steps, count, jumps
from tests.equivalence.model import CHILD_TEMPLATE, STEP_TEMPLATE, Goto, Leaf, Runbook, Step
from tests.equivalence.render import RESERVED
from tests.equivalence.scenario import command, scenario
from tests.equivalence.strategies import cases

BOUNDED = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def check_jump(runbook: Runbook, step: Step, node: AnyStep, goto: Goto) -> None:
    """V10, said again from the side of the target."""
    if goto.step is None:
        assert step.ident == STEP_TEMPLATE or node.ident == CHILD_TEMPLATE
        return
    target = next(other for other in runbook.steps if other.ident == goto.step)
    if goto.advance:
        assert goto.child == CHILD_TEMPLATE or (goto.child is None and goto.step == STEP_TEMPLATE)
    if goto.child is None:
        assert target is not node or goto.step == STEP_TEMPLATE
        return
    child = next(other for other in target.children if other.ident == goto.child)
    assert child is not node or goto.child == CHILD_TEMPLATE
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
        for step, node in all_steps(runbook):
            children = [child.ident for child in step.children]
            check_numbers(children)
            assert CHILD_TEMPLATE not in children or len(children) == 1
            # After the last substep a modifier would belong to the step (V8); on a leaf it only warns (V9).
            assert node is step or not node.transitions.optimistic or not isinstance(node.body, Leaf)
            for goto in jumps(node):
                check_jump(runbook, step, node, goto)


@BOUNDED
@given(cases())
def test_cases_walk_and_print(case: Case) -> None:
    assert case.walk() == case.walk()
    assert case.main in repr(case)
    assert len(case.documents()) == 1 + len(case.files)


@pytest.mark.soak
def test_everything_occurs() -> None:
    found: Counter[str] = Counter()

    def look(case: Case) -> None:
        found.update(count(case))

    for batch in range(12):  # what is rare takes several
        seed(batch)(settings(BOUNDED, max_examples=150, derandomize=False, database=None)(given(cases())(look)))()
        if all(found[feature] for feature in EXPECTED):
            return
    assert [feature for feature in EXPECTED if not found[feature]] == []


def run_by_hand(workspace: Workspace, case: Case) -> None:
    """Run the commands of the expected path one by one, as a right program would."""
    for visit, passed in workspace.scenario.trace.visits:
        if not visit.is_command:
            continue
        runbook = case.files[visit.file] if visit.file else case.runbook
        step_ident, _, child_ident = visit.step.partition(".")
        step = next(step for step in runbook.steps if step.ident == step_ident)
        body = next((child.body for child in step.children if child.ident == child_ident), step.body)
        assert isinstance(body, Leaf)
        names = ("RDC_RUN_ID", "RDC_ATTEMPT", "RDC_STEP_INSTANCE", "RDC_SUBSTEP_INSTANCE")
        numbers = (1, visit.attempt, visit.step_instance, visit.substep_instance)
        known = {name: str(number) for name, number in zip(names, numbers, strict=True) if number}
        known |= dict(visit.beyond.sees)
        output = workspace.folder / "output"
        output.write_bytes(b"")
        known |= {"RDC_OUTPUT": str(output)} if visit.beyond.keeps else {}
        code = command(visit.file, visit.step, body)
        number = {"{N}": known.get("RDC_STEP_INSTANCE"), "{n}": known.get("RDC_SUBSTEP_INSTANCE")}
        for placeholder in {step_ident, child_ident} & set(number):
            code = re.sub(rf"(?<!\$){re.escape(placeholder)}", str(number[placeholder]), code)
        done = subprocess.run(
            ["sh", "-c", code],
            cwd=workspace.folder,
            env={**workspace.environment, **known},
            capture_output=True,
            check=False,
        )
        assert (done.returncode == 0) == (passed or visit.beyond.is_broken)
        assert output.read_bytes().decode() == visit.beyond.writes


@settings(BOUNDED, max_examples=15)
@given(cases(most=2))
def test_commands_log_their_visit_and_end_as_the_script_says(case: Case) -> None:
    prepared = scenario(case)
    assume(prepared.trace.end is not None)
    assume(not any(visit.beyond.hangs for visit, _ in prepared.trace.visits))
    with workspace(prepared) as ready:
        run_by_hand(ready, case)
        ready.check_log()
        outcomes = ["pass" if passed else "fail" for visit, passed in prepared.trace.visits if not visit.is_command]
        lines = ready.answers.read_text(encoding="utf-8").splitlines()
        assert [line.split()[-1] for line in lines] == outcomes
        assert ready.documents.main.is_file()
