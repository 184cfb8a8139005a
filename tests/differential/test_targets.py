"""A bounded share of the soak, always the same cases; what was found once; and each driver notices what is wrong."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from backends.registry import BACKENDS
from tests.differential import drivers
from tests.differential.case import CASE, Case, DifferenceError, Json, Trace, Visit
from tests.differential.drivers import DRIVERS, NAMES, SEMANTICS, carried, github, missing, try_driver
from tests.differential.drivers.workspace import STUB
from tests.differential.generate.program import random_case
from tests.differential.generate.rundown import Drawn, Outcomes
from tests.differential.generate.rundown_model import COMMAND, Leaf, Runbook, Step, Stop, Transitions, book
from tests.differential.oracles import rundown
from tests.differential.oracles.program import path_of
from tests.differential.oracles.rundown_parts import trace_of
from tests.differential.soak import FORMATS, SLOW, cases
from tests.support.process import ROOT
from tests.support.program_json import edge, node, program_of

pytestmark = pytest.mark.process

SHOWN_ONLY = {"dot", "mermaid", "json", "skill"}  # the program of a skill is that of Python
"""Targets for reading: nobody runs what they write."""

SHARES = {
    SEMANTICS: {"rundown": 10, "program": 40, "playbook": 20, "agent-workflow": 20},
    "python": {"program": 1, "rundown": 1},
    "python-script": {"rundown": 1},
    "python-waiting": {"program": 1, "rundown": 1},
    "python-steps": {"program": 1},
    "python-prompted": {"rundown": 1},
    "python-killed": {"program": 1, "rundown": 1},
    "rdc-run": {"rundown": 1},
    "make": {"program": 1, "rundown": 1},
    "make-waiting": {"program": 1, "rundown": 1},
    "make-prompted": {"rundown": 1},
    "make-killed": {"program": 1, "rundown": 1},
    "make-plain": {"rundown": 2},
    "dbos": {"program": 1},
    "dbos-waiting": {"rundown": 1},
    "github": {"program": 1, "rundown": 1},
    "github-agent": {"rundown": 1},
    "github-reviews": {"rundown": 1},
    "engine": {"program": 1, "rundown": 1},
    "engine-agent": {"rundown": 1},
    "engine-steps": {"rundown": 1},
    "engine-reviews": {"rundown": 1},
}
"""How many cases of each format: an oracle of a format is compared with the semantics, targets on programs."""

LATER = {
    *((driver, "program") for driver in ("python-killed", "python-waiting", "make-killed", "make-waiting", "github")),
    *((driver, "rundown") for driver in ("dbos-waiting", "github-agent", "github-reviews")),
}
"""What the soak alone compares: another driver runs these programs on the target, and this one runs other documents."""


def skip_without(driver: str) -> None:
    if lacking := missing(driver):
        pytest.skip(lacking)


def test_every_target_that_can_be_run_has_drivers_and_every_driver_a_share() -> None:
    assert {driver.backend for driver in DRIVERS.values()} == set(BACKENDS) - SHOWN_ONLY
    assert set(SHARES) == set(NAMES)


@pytest.mark.parametrize(
    ("driver", "name"),
    [
        pytest.param(driver, name, marks=[pytest.mark.soak] if (driver, name) in LATER else [])
        for driver, found in SHARES.items()
        for name in found
    ],
)
def test_a_run_takes_the_path_of_the_oracle(driver: str, name: str) -> None:
    """The path is the same on every target (I3)."""
    skip_without(driver)
    left = SHARES[driver][name]
    for case in cases(name, driver):
        try:
            left -= try_driver(driver, case)
        except Exception as error:
            raise AssertionError(f"{error}{case!r}") from error
        if not left:
            break


SEEDS = 2
"""Of runs in a process."""


@pytest.mark.parametrize("first", range(0, 32 * SEEDS, SEEDS))
@pytest.mark.share(32)
def test_every_run_keeps_to_the_contract(first: int) -> None:
    """Whatever fails, and wherever it is killed; the runs have a process that has loaded nothing else."""
    seeds = map(str, range(first, first + SEEDS))
    command = [sys.executable, "-m", "tests.differential.stepspec", *seeds]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-8000:]
    assert int(done.stdout) >= SEEDS * 3 // 4, "most runs come to their end"


FOUND = sorted(path.parent for path in (Path(__file__).parent / "found").rglob(CASE))


@pytest.mark.parametrize("folder", FOUND, ids=lambda folder: folder.name)
def test_what_was_found_once_stays_fixed_and_is_written_as_it_is_read(folder: Path, tmp_path: Path) -> None:
    case = Case.read(folder)
    assert try_driver(SEMANTICS, case)
    case.write(tmp_path)
    for path in filter(Path.is_file, folder.rglob("*")):
        assert (tmp_path / path.relative_to(folder)).read_bytes() == path.read_bytes()


@pytest.mark.share(152)
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("folder", FOUND, ids=lambda folder: folder.name)
def test_what_was_found_once_stays_fixed_on_targets(folder: Path, driver: str) -> None:
    skip_without(driver)
    try_driver(driver, Case.read(folder))


def two_steps() -> Case:
    """A command and a question, which every target carries."""
    command: Json = {"kind": "shell", "interpreter": "sh", "prompt": ""}
    command["command"] = [STUB + " shell 1 ", {"register": "c"}]
    first = node("1", command, edge("2"), variables=[{"name": "FIRST", "register": "c"}])
    second = node("2", {"kind": "ask", "question": "pass_fail", "prompt": "?"}, edge("end"))
    found = program_of(first, second, name="program", registers=[{"name": "c", "scope": "", "initial": 7}])
    replies: dict[str, list[Json]] = {"1": [{"exit": 0, "says": "", "output": None}], "2": [{"reply": True}]}
    return Case({**found, "slots": [], "inputs": []}, {}, replies)


QUESTION = Step("1", Leaf("Is it good?"), Transitions(on_fail=Stop()))
RUNBOOKS = {
    "": Runbook((QUESTION, Step("2", COMMAND))),
    "lines": book("1 ; 2"),
    "questions": Runbook((QUESTION, Step("2", COMMAND))),
}


def simple_case(driver: str) -> Case:
    """A case that a driver takes: a program, or a runbook where it takes no others."""
    taken = DRIVERS.get(driver)
    if taken is None or not (taken.of_documents or taken.is_simple):
        return two_steps()
    return rundown.case_of(Drawn(RUNBOOKS[taken.kind], outcomes=Outcomes((True,) * 9)))


def with_call(taken: Trace, **more: Any) -> Trace:
    """A path, of which the first command is given something else."""
    calling = first_calling(taken)
    other = replace(calling, calls=tuple(replace(call, **more) for call in calling.calls))
    return replace(taken, visits=tuple(other if visit is calling else visit for visit in taken.visits))


def first_calling(taken: Trace) -> Visit:
    """The first visit that runs a command: not all drivers see others, or take a run without a question."""
    return next(visit for visit in taken.visits if visit.calls)


WRONG: dict[str, Callable[[Trace], Trace]] = {
    "the end": lambda taken: replace(taken, end=("STOP", "")),
    "the message": lambda taken: replace(taken, end=("COMPLETE", "more")),
    "the attempt": lambda taken: with_call(taken, attempt=2),
    "the arguments": lambda taken: with_call(taken, arguments=("8",)),
    "the variables": lambda taken: with_call(taken, variables={"FIRST": "8"}),
    "the order": lambda taken: replace(taken, visits=(*taken.visits, first_calling(taken))),
    "the steps": lambda taken: replace(taken, visits=tuple(one for one in taken.visits if one != first_calling(taken))),
}
UNSEEN = {"make-plain": {"the attempt"}, "make-killed": {"the end", "the message"}}
"""What a driver cannot see, or not always: rules of make have no attempts, and a loop may be killed at its end."""

PROMPTED = {"the attempt", "the arguments", "the variables"}
"""What shows where a command runs, and not where a person answers for it."""


def sees(driver: str, wrong: str) -> bool:
    return wrong not in (PROMPTED if driver.endswith("prompted") else UNSEEN.get(driver, set()))


NOTICED = [(driver, wrong) for driver in NAMES for wrong in WRONG if sees(driver, wrong)]
CHEAP = {SEMANTICS, "python"}
USUAL = {
    ("make-killed", "the arguments"),
    *((driver, "the message") for driver in ("make", "make-plain", "dbos", "github")),
}
USUAL |= {(driver, "the message") for driver in ("engine", "engine-reviews", "python-script", "python-waiting")}


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("driver", "wrong"),
    [pytest.param(*each, marks=[] if each[0] in CHEAP or each in USUAL else pytest.mark.soak) for each in NOTICED],
)
def test_a_driver_notices_what_is_wrong(driver: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without(driver)
    case = simple_case(driver)
    # What differs shows that a message is all that is wrong, and running the case as it is costs as much again.
    assert wrong == "the message" or try_driver(driver, case)
    monkeypatch.setattr(drivers, "path_of", lambda case: WRONG[wrong](path_of(case)))
    with pytest.raises(DifferenceError, match="the end|the last line|message" if wrong == "the message" else None):
        try_driver(driver, case)


@pytest.mark.parametrize("name", ["reports", "artifact"])
def test_the_semantics_notice_what_is_wrong_in_what_a_run_leaves(name: str) -> None:
    form = FORMATS["agent-workflow" if name == "reports" else "playbook"]
    found = (form.case_of(form.draw(seed, SEMANTICS)) for seed in count())
    case = next(case for case in found if getattr(path_of(case), name) and path_of(case).end)
    more: dict[str, Any] = {name: {"no": ["such"]} if name == "reports" else ("another",)}
    wrong = replace(path_of(case), **more)
    with pytest.raises(DifferenceError, match="report" if name == "reports" else "leaves"):
        try_driver(SEMANTICS, replace(case, trace=wrong))


STEPS = book("1 FAIL: GOTO Fix ; 2 FAIL: RETRY 2 GOTO Fix ; 3 PASS: GOTO 2, FAIL: COMPLETE ; Fix PASS: STOP fixed")
PATHS = {
    "straight": "1+ 2+ 3- => COMPLETE",
    "repeated": "1+ 2- 2#2+ 3+ 2+ 3- => COMPLETE",
    "fixed": "1- Fix+ => STOP fixed",
    "broken": "1- Fix- => STOP",
}
MUTATIONS = [
    ("        if: steps.s1.outcome == 'success'", "        if: steps.s1.outcome != 'success'", "straight"),
    ("        if: steps.s1.outcome == 'success'", "        if: always()", "fixed"),
    ("steps.s1.outcome == 'failure' ||", "steps.s1.outcome == 'failed' ||", "fixed"),
    ("        continue-on-error: true\n", "", "fixed"),
    ("if: failure() && steps.Fix", "if: success() && steps.Fix", "broken"),
    ("          exit 1\n", "", "fixed"),
    ("if: steps.s2.outputs.next == 'COMPLETE'", "if: steps.s2.outputs.next == 'STOP'", "repeated"),
    ("pass) rdc_node='s2' ;;", "pass) rdc_node='s3' ;;", "repeated"),
]


@pytest.mark.share(3)
@pytest.mark.parametrize(("right", "wrong", "path"), MUTATIONS)
def test_the_engine_notices_a_workflow_that_is_wrong(
    right: str, wrong: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("engine")
    outcomes = tuple(word.endswith("+") for word in PATHS[path].partition(" =>")[0].split())
    drawn = Drawn(STEPS, outcomes=Outcomes(outcomes))
    assert str(trace_of(rundown.walk(drawn))) == PATHS[path]
    monkeypatch.setattr(github, "_has_summary", lambda workspace: True)
    assert try_driver("engine", rundown.case_of(drawn))
    emitted = github.workflow

    def mutated(*given: Any) -> str:
        text = emitted(*given)
        assert text
        assert right in text
        return text.replace(right, wrong, 1)

    monkeypatch.setattr(github, "workflow", mutated)
    with pytest.raises(DifferenceError):
        try_driver("engine", rundown.case_of(drawn))


@pytest.mark.soak
def test_matrices_are_among_the_workflows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a parallel step outside of loops that a path comes to, the agents are jobs in every second case."""
    skip_without("engine")
    texts: list[str] = []
    walked = github.walked

    def noted(workspace: Any, text: str, **given: Any) -> Any:
        texts.append(text)
        return walked(workspace, text, **given)

    monkeypatch.setattr(github, "walked", noted)
    for seed in range(200):
        case = random_case(seed, carried("engine") - SLOW)
        visited = {visit.step for visit in path_of(case).visits}
        parallel = {item["id"] for item in case.program["nodes"] if item["task"]["kind"] == "parallel"}
        if visited & parallel and try_driver("engine", case) and "    strategy:\n" in texts[-1]:
            return
    raise AssertionError("no workflow has a matrix")
