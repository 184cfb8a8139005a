"""A bounded share of the soak, always the same cases; and each driver notices what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from compiler.ir.features import Feature
from tests.equivalence.difference import DifferenceError
from tests.programs import drivers
from tests.programs.cases import FOUND, Case, Json, Trace, Visit
from tests.programs.drivers import NAMES, carried, missing, try_driver
from tests.programs.oracle import walk
from tests.programs.strategies import random_case
from tests.programs.test_oracle import edge, node, program
from tests.programs.workspace import STUB, Workspace

SHARES = {
    "semantics": 30,
    "python": 2,
    "python-waiting": 1,
    "python-killed": 1,
    "make": 2,
    "make-waiting": 1,
    "make-killed": 1,
    "dbos": 1,
    "dbos-waiting": 1,
    "github": 1,
    "engine": 2,
}
"""How many programs."""

MOST_PATHS = 20
"""Until one has a matrix; more would say that few have."""

SLOW = {Feature.TIMEOUTS, Feature.DELAYS}
"""What only the soak waits for."""


def test_every_driver_has_a_share() -> None:
    assert set(SHARES) == set(NAMES)


@pytest.mark.parametrize("driver", SHARES)
def test_it_walks_as_the_oracle(driver: str) -> None:
    if lacking := missing(driver):
        pytest.skip(lacking)
    known = carried(driver) if driver == "semantics" else carried(driver) - SLOW
    seeds, left = count(), SHARES[driver]
    while left:
        case = random_case(next(seeds), known)
        try:
            left -= try_driver(driver, case)
        except Exception as error:
            raise AssertionError(f"{error}{case!r}") from error


# --- What was found once ----------------------------------------------------------------------------------------------


@pytest.mark.share(5)
@pytest.mark.parametrize("driver", ["semantics", "python", "make", "engine"])
@pytest.mark.parametrize("path", sorted(FOUND.glob("*.json")), ids=lambda path: path.stem)
def test_what_was_found_once_is_mended(path: Path, driver: str) -> None:
    if lacking := missing(driver):
        pytest.skip(lacking)
    try_driver(driver, Case.read(path))


@pytest.mark.soak
def test_matrices_are_among_the_workflows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a parallel step outside of loops that a path comes to, the agents are jobs in every second case."""
    if lacking := missing("engine"):
        pytest.skip(lacking)
    texts: list[str] = []
    by_engine = drivers.github._by_engine

    def noted(workspace: Workspace, text: str, *more: Any) -> Any:
        texts.append(text)
        return by_engine(workspace, text, *more)

    monkeypatch.setattr(drivers.github, "_by_engine", noted)
    for seed in count():
        case = random_case(seed, carried("engine") - SLOW)
        visited = {visit.step for visit in walk(case).visits}
        parallel = {item["id"] for item in case.program["nodes"] if item["task"]["kind"] == "parallel"}
        if visited & parallel and try_driver("engine", case) and "    strategy:\n" in texts[-1]:
            break
    assert len(texts) < MOST_PATHS


# --- What is wrong is noticed -----------------------------------------------------------------------------------------


def two_steps() -> Case:
    """A command and a question, which every target carries."""
    command: Json = {"kind": "shell", "interpreter": "sh", "prompt": ""}
    command["command"] = [STUB + " shell 1 ", {"register": "c"}]
    first = node("1", command, edge("2"), variables=[{"name": "FIRST", "register": "c"}])
    second = node("2", {"kind": "ask", "question": "pass_fail", "prompt": "?"}, edge("end"))
    found = program(first, second, name="program", registers=[{"name": "c", "scope": "", "initial": 7}])
    replies: dict[str, list[Json]] = {"1": [{"exit": 0, "says": "", "output": None}], "2": [{"reply": True}]}
    return Case({**found, "slots": [], "inputs": []}, {}, replies)


def wrong_call(visit: Visit, **more: object) -> Visit:
    return replace(visit, calls=tuple(replace(call, **more) for call in visit.calls))  # type: ignore[arg-type] # tests


WRONG: dict[str, Callable[[Trace], Trace]] = {
    "the end": lambda taken: replace(taken, end=("STOP", "")),
    "the message": lambda taken: replace(taken, end=("COMPLETE", "more")),
    "the attempt": lambda taken: replace(taken, visits=(wrong_call(taken.visits[0], attempt=2), *taken.visits[1:])),
    "the arguments": lambda taken: replace(
        taken, visits=(wrong_call(taken.visits[0], arguments=("8",)), *taken.visits[1:])
    ),
    "the variables": lambda taken: replace(
        taken, visits=(wrong_call(taken.visits[0], variables={}), *taken.visits[1:])
    ),
    "the order": lambda taken: replace(taken, visits=(*taken.visits, taken.visits[0])),
}


NOTICED = [
    (driver, wrong)
    for driver in NAMES
    for wrong in WRONG
    if driver in {"semantics", "python"} or wrong == "the arguments"
]


@pytest.mark.share(3)
@pytest.mark.parametrize(("driver", "wrong"), NOTICED)
def test_a_driver_notices_what_is_wrong(driver: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacking := missing(driver):
        pytest.skip(lacking)
    case = two_steps()
    assert try_driver(driver, case)
    monkeypatch.setattr(drivers, "walk", lambda case: WRONG[wrong](walk(case)))
    with pytest.raises(DifferenceError):
        try_driver(driver, case)


def test_a_case_is_written_as_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    two_steps().write(path)
    assert Case.read(path) == two_steps()
