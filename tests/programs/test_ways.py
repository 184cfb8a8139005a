"""A bounded share of the soak, always the same cases; and each way notices what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from compiler.ir.features import Feature
from tests.equivalence.difference import DifferenceError

from . import ways
from .cases import FOUND, Case, Json, Visit, Walk
from .oracle import walk
from .strategies import random_case
from .test_oracle import edge, node, program
from .trial import STAND_IN, Trial
from .ways import NAMES, carried, missing, try_way

SHARES = {
    "semantics": 30,
    "python": 2,
    "python-waiting": 1,
    "python-killed": 1,
    "make": 2,
    "make-waiting": 1,
    "make-killed": 1,
    "github": 1,
    "engine": 2,
    "engine-waiting": 1,
}
"""How many programs."""

MOST_WALKS = 20
"""Until one has a matrix; more would say that few have."""

SLOW = {Feature.TIMEOUTS, Feature.DELAYS}
"""What only the soak waits for."""


def test_every_way_has_a_share() -> None:
    assert set(SHARES) == set(NAMES)


@pytest.mark.parametrize("way", SHARES)
def test_it_walks_as_the_oracle(way: str) -> None:
    if lacking := missing(way):
        pytest.skip(lacking)
    known = carried(way) if way == "semantics" else carried(way) - SLOW
    seeds, left = count(), SHARES[way]
    while left:
        case = random_case(next(seeds), known)
        try:
            left -= try_way(way, case)
        except Exception as error:
            raise AssertionError(f"{error}{case!r}") from error


# --- What was found once ----------------------------------------------------------------------------------------------


@pytest.mark.share(5)
@pytest.mark.parametrize("way", ["semantics", "python", "make", "engine", "engine-waiting"])
@pytest.mark.parametrize("path", sorted(FOUND.glob("*.json")), ids=lambda path: path.stem)
def test_what_was_found_once_is_mended(path: Path, way: str) -> None:
    if lacking := missing(way):
        pytest.skip(lacking)
    try_way(way, Case.read(path))


@pytest.mark.soak
def test_matrices_are_among_the_workflows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a parallel step outside of loops that a walk comes to, the agents are jobs in every second case."""
    if lacking := missing("engine"):
        pytest.skip(lacking)
    texts: list[str] = []
    by_engine = ways.github._by_engine

    def noted(trial: Trial, text: str, *more: Any) -> Any:
        texts.append(text)
        return by_engine(trial, text, *more)

    monkeypatch.setattr(ways.github, "_by_engine", noted)
    for seed in count():
        case = random_case(seed, carried("engine") - SLOW)
        visited = {visit.unit for visit in walk(case).visits}
        parallel = {item["id"] for item in case.program["nodes"] if item["task"]["kind"] == "parallel"}
        if visited & parallel and try_way("engine", case) and "    strategy:\n" in texts[-1]:
            break
    assert len(texts) < MOST_WALKS


# --- What is wrong is noticed -----------------------------------------------------------------------------------------


def two_units() -> Case:
    """A command and a question, which every target carries."""
    command: Json = {"kind": "shell", "interpreter": "sh", "prompt": ""}
    command["command"] = [STAND_IN + " shell 1 ", {"register": "c"}]
    first = node("1", command, edge("2"), variables=[{"name": "FIRST", "register": "c"}])
    second = node("2", {"kind": "ask", "question": "pass_fail", "prompt": "?"}, edge("end"))
    found = program(first, second, name="program", registers=[{"name": "c", "scope": "", "initial": 7}])
    replies: dict[str, list[Json]] = {"1": [{"exit": 0, "says": "", "output": None}], "2": [{"reply": True}]}
    return Case({**found, "slots": [], "inputs": []}, {}, replies)


def wrong_call(visit: Visit, **more: object) -> Visit:
    return replace(visit, calls=tuple(replace(call, **more) for call in visit.calls))  # type: ignore[arg-type] # tests


WRONG: dict[str, Callable[[Walk], Walk]] = {
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
    (way, wrong) for way in NAMES for wrong in WRONG if way in {"semantics", "python"} or wrong == "the arguments"
]


@pytest.mark.share(3)
@pytest.mark.parametrize(("way", "wrong"), NOTICED)
def test_a_way_notices_what_is_wrong(way: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacking := missing(way):
        pytest.skip(lacking)
    case = two_units()
    assert try_way(way, case)
    monkeypatch.setattr(ways, "walk", lambda case: WRONG[wrong](walk(case)))
    with pytest.raises(DifferenceError):
        try_way(way, case)


def test_a_case_is_written_as_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    two_units().write(path)
    assert Case.read(path) == two_units()
