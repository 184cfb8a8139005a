"""The measurements of workers in small: they find that nothing is lost, and that nothing runs twice unasked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.workers import __main__ as program
from benchmarks.workers.kills import kills
from benchmarks.workers.places import KINDS, Place, place
from benchmarks.workers.takeover import takeover


@pytest.fixture(scope="module")
def at() -> Iterator[Place]:
    """A folder with a server."""
    try:
        with place() as found:
            yield found
    except (ImportError, OSError, RuntimeError) as error:
        pytest.skip(f"PostgreSQL cannot start here: {error}")


@pytest.mark.soak
def test_killed_workers_lose_nothing(at: Place) -> None:
    found = dict(kills(at, count=6))
    for kind in KINDS:
        complete, _, runs = found[f"{kind}: runs complete"].split()
        assert complete == runs
        assert found[f"{kind}: runs with a step that is recorded twice"] == "0"
        assert found[f"{kind}: steps started twice unasked"] == "0"
        assert found[f"{kind}: runs with a step left out"] == "0"
        assert found[f"{kind}: processes left 2.5 s after the last kill"].startswith("0 ")


@pytest.mark.soak
def test_other_workers_take_over_each_leg(at: Place) -> None:
    found = dict(takeover(at, count=40))
    for kind in KINDS:
        assert found[f"{kind}: runs complete"].startswith("40 of 40 ")
        assert found[f"{kind}: legs of the two killed workers"].endswith("not taken over: 0")


def test_an_unknown_measure(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["bogus"]) == 2
    assert "no such measure: bogus; choose from kills" in capsys.readouterr().err
