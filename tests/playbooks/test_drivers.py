"""A bounded share of the soak, always the same playbooks; and each driver notices what is wrong."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from tests.equivalence.difference import DifferenceError
from tests.equivalence.drawn import SHARES, made_smaller, try_share
from tests.playbooks import drivers
from tests.playbooks.drawing import random_told
from tests.playbooks.drivers import NAMES, missing, try_driver
from tests.playbooks.model import Book, Name, Output, Step, Told
from tests.playbooks.oracle import Taken, walk
from tests.playbooks.smaller import smaller
from tests.playbooks.soak import KIND


def test_every_driver_has_a_share() -> None:
    assert set(SHARES) == set(NAMES)


@pytest.mark.parametrize("driver", SHARES)
def test_it_walks_as_the_oracle(driver: str) -> None:
    if lacking := missing(driver):
        pytest.skip(lacking)
    try_share(KIND, driver)


def test_random_playbooks_have_everything() -> None:
    books = [random_told(seed).book for seed in range(60)]
    steps = [step for book in books for step in book.every_step]
    kinds = {step.elicit.kind for step in steps if step.elicit} | {step.prompt.scheme for step in steps if step.prompt}
    assert kinds == {"input", "confirm", "select", "file", "library", "mcp", "variable", "http"}
    assert any(step.tool for step in steps)
    assert any(step.output and step.output.extract for step in steps)
    assert any(not step.label for step in steps)
    assert any(len({step.label for step in book.steps}) < len(book.steps) for book in books)
    ends = [walk(random_told(seed)).trace.end for seed in range(60)]
    assert {end and end[0] for end in ends} == {"COMPLETE", "STOP"}
    assert any(end and end[1] for end in ends)


# --- What is wrong is noticed -----------------------------------------------------------------------------------------


def two_steps() -> Told:
    """Two steps, the second of which names what came of the first."""
    first = Step("1", "First", ("Say it.",), Output("topic"))
    return Told(Book((first, Step("2", "Second", ("About ", Name("topic"))))), {}, {"1": {"exit": 0, "answer": "cats"}})


def test_the_prompt_of_a_second_step_is_known_word_by_word() -> None:
    prompts = [call.given for visit in walk(two_steps()).trace.visits for call in visit.calls]
    assert prompts == ["Say it.", "## Output of step 1: First (topic)\n\ncats\n\nAbout cats"]


def with_other_prompt(taken: Taken) -> Taken:
    *before, last = taken.trace.visits
    calls = tuple(replace(call, given=call.given + ".") for call in last.calls)
    return replace(taken, trace=replace(taken.trace, visits=(*before, replace(last, calls=calls))))


def with_other_end(taken: Taken) -> Taken:
    return replace(taken, trace=replace(taken.trace, end=("STOP", "")))


def without_last(taken: Taken) -> Taken:
    return replace(taken, trace=replace(taken.trace, visits=taken.trace.visits[:-1]))


@pytest.mark.share(3)
@pytest.mark.parametrize("wrong", [with_other_prompt, with_other_end, without_last])
@pytest.mark.parametrize("driver", ["semantics", "python", "make", "engine"])
def test_a_driver_notices_what_is_wrong(driver: str, wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacking := missing(driver):
        pytest.skip(lacking)
    assert callable(wrong)
    assert try_driver(driver, two_steps())
    monkeypatch.setattr(drivers, "walk", lambda told: wrong(walk(told)))
    with pytest.raises(DifferenceError):
        try_driver(driver, two_steps())


def test_what_shows_a_difference_is_made_small() -> None:
    told = random_told(4)
    assert len(list(told.book.every_step)) > 2

    def shows(found: Told) -> bool:
        return any(step.tool or step.elicit for step in found.book.every_step)

    seeds = (random_told(seed) for seed in count())
    found = made_smaller(next(told for told in seeds if shows(told) and len(told.book.steps) > 2), shows, smaller, 10.0)
    assert len(found.book.steps) == 1
    assert not found.book.system
