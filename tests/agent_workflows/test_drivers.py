"""A bounded share of the soak, always the same workflows; and each driver notices what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from tests.agent_workflows import drivers
from tests.agent_workflows.drawing import random_told
from tests.agent_workflows.drivers import NAMES, missing, try_driver
from tests.agent_workflows.model import Flow, Report, Step, Told
from tests.agent_workflows.oracle import Taken, walk
from tests.agent_workflows.smaller import smaller
from tests.agent_workflows.soak import KIND
from tests.equivalence.difference import DifferenceError
from tests.equivalence.drawn import SHARES, made_smaller, try_share


def test_every_driver_has_a_share() -> None:
    assert set(SHARES) == set(NAMES)


@pytest.mark.parametrize("driver", SHARES)
def test_it_walks_as_the_oracle(driver: str) -> None:
    if lacking := missing(driver):
        pytest.skip(lacking)
    try_share(KIND, driver)


def test_random_workflows_have_everything() -> None:
    told = [random_told(seed) for seed in range(80)]
    steps = [step for one in told for step in one.flow.steps]
    assert any(step.human for step in steps)
    assert {step.check for step in steps if step.entries} == {"all", "any"}
    assert any(step.report and step.report.validation for step in steps)
    assert any(step.end and step.conditions for step in steps)
    assert any(not (step.end or step.next or step.conditions) for step in steps)
    taken = [walk(one) for one in told]
    said = [visit.word for one in taken for visit in one.trace.visits]
    assert {"TASK_DONE", "none", "invalid", "ambiguous", "failed", "approved", "rejected"} <= set(said)
    ends = [one.trace.end for one in taken if one.trace.end]
    assert {end[0] for end in ends} == {"COMPLETE", "STOP"}
    assert any("limit" in end[1] for end in ends)
    prompts = "".join(call.given for one in taken for visit in one.trace.visits for call in visit.calls)
    assert "and why this step runs again:" in prompts
    assert "said:\n\n" in prompts


# --- What is wrong is noticed -----------------------------------------------------------------------------------------


def two_steps() -> Told:
    """A step, and one that sends it back once."""
    report = Report("verdict", "One word", "GOOD|BAD", ("GOOD", "BAD"))
    steps = (
        Step("write", "Write it.", next="check"),
        Step("check", "Check it.", "critic", report=report, end=True, conditions=(("BAD", "write"),)),
    )
    said = {"write": ["first", "second"], "check": ["It is:\n\nBAD", "GOOD"]}
    replies = {step: [{"exit": 0, "answer": answer} for answer in answers] for step, answers in said.items()}
    return Told(Flow(steps, "a", "Do it."), "The task", replies)


def test_prompts_and_reports_are_known_word_by_word() -> None:
    taken = walk(two_steps())
    prompts = [call.given for visit in taken.trace.visits for call in visit.calls]
    head = "Workflow: a\nStep: {}\nReports are in: /…/reports\n\nTask:\nThe task\n\n"
    asked = "End your answer with a line that has nothing but BAD or GOOD."
    check = f"Check it.\n\nA report like this is expected:\n\nOne word\n\n{asked}"
    assert prompts == [
        head.format("write") + "Write it.",
        head.format("check") + check,
        head.format("write") + "What check said, and why this step runs again:\n\nIt is:\n\nBAD\n\nWrite it.",
        head.format("check") + check,
    ]
    assert taken.reports == {"write": ["first", "second"], "verdict": ["It is:\n\nBAD", "GOOD"]}


def with_other_prompt(taken: Taken) -> Taken:
    *before, last = taken.trace.visits
    calls = tuple(replace(call, given=call.given + ".") for call in last.calls)
    return replace(taken, trace=replace(taken.trace, visits=(*before, replace(last, calls=calls))))


def with_other_end(taken: Taken) -> Taken:
    return replace(taken, trace=replace(taken.trace, end=("STOP", "")))


def without_last(taken: Taken) -> Taken:
    return replace(taken, trace=replace(taken.trace, visits=taken.trace.visits[:-1]))


def with_other_report(taken: Taken) -> Taken:
    return replace(taken, reports={**taken.reports, "write": ["first"]})


Change = Callable[[Taken], Taken]


@pytest.mark.share(3)
@pytest.mark.parametrize("wrong", [with_other_prompt, with_other_end, without_last])
@pytest.mark.parametrize("driver", ["semantics", "python", "make", "engine"])
def test_a_driver_notices_what_is_wrong(driver: str, wrong: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacking := missing(driver):
        pytest.skip(lacking)
    assert try_driver(driver, two_steps())
    monkeypatch.setattr(drivers, "walk", lambda told: wrong(walk(told)))
    with pytest.raises(DifferenceError):
        try_driver(driver, two_steps())


@pytest.mark.parametrize("driver", ["python", "make", "dbos"])
def test_a_driver_notices_what_is_wrong_in_a_report(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacking := missing(driver):
        pytest.skip(lacking)
    monkeypatch.setattr(drivers, "walk", lambda told: with_other_report(walk(told)))
    with pytest.raises(DifferenceError, match="report"):
        try_driver(driver, two_steps())


def test_what_shows_a_difference_is_made_small() -> None:
    def shows(found: Told) -> bool:
        return any(step.human for step in found.flow.steps)

    seeds = (random_told(seed) for seed in count())
    found = made_smaller(next(one for one in seeds if shows(one) and len(one.flow.steps) > 2), shows, smaller, 10.0)
    assert len(found.flow.steps) == 1
    assert found.task is None
