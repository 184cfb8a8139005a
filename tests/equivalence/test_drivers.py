"""The table of drivers is whole, and a difference is found, said, made small and saved."""

from __future__ import annotations

import re
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from backends.registry import BACKENDS
from tests.backends.github import test_engine_paths as test_engine
from tests.equivalence import __main__, regressions, test_dbos, test_github, test_make, test_python, test_semantics
from tests.equivalence.difference import DifferenceError
from tests.equivalence.drivers import DRIVERS, Driver, try_driver
from tests.equivalence.execution import Workspace
from tests.equivalence.scenario import OWN, Scenario
from tests.equivalence.strategies import lines, questions
from tests.equivalence.visits import Trace

SHOWN_ONLY = {"dot", "mermaid", "json"}
"""Targets for reading: nobody runs what they write."""

ASKS = f'## 1\n\nIs it good?\n\n- NO: COMPLETE\n\n## 2\n\n```sh\nsh "$YARDSTICK/visit{OWN}" 2 -\n```\n'
LINE = f'## 1\n\n```sh\nsh "$YARDSTICK/visit{OWN}" 1 -\n```\n'


def asking(tmp_path: Path, *lines: str, document: str = ASKS) -> Scenario:
    """A scenario of a prompt and a command, with a path in words."""
    (tmp_path / "main.runbook.md").write_text(document, encoding="utf-8")
    (tmp_path / regressions.TRACE).write_text("\n".join(["run main.runbook.md", *lines, ""]), encoding="utf-8")
    return regressions.read(tmp_path)


def test_every_target_that_can_be_run_has_drivers() -> None:
    assert {driver.backend for driver in DRIVERS.values()} - {""} == set(BACKENDS) - SHOWN_ONLY


def test_every_driver_has_a_share_of_the_usual_tests() -> None:
    tests = (test_semantics, test_python, test_make, test_dbos, test_github, test_engine)
    assert {name for test in tests for name in test.SHARES} == set(DRIVERS)


WRONG = {
    "the end": ("1 yes", "2 pass", '=> STOP ""'),
    "the attempt": ("1 yes", "2#2 pass", '=> COMPLETE ""'),
    "what runs": ("1 no", "2 pass", '=> COMPLETE ""'),
    "what a command is given": ("1 yes", '2 pass ["x"]', '=> COMPLETE ""'),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("driver", ["python", "make", "dbos", "github", "engine"])
@pytest.mark.parametrize("trace", WRONG.values(), ids=WRONG)
def test_a_driver_notices_what_is_wrong(driver: str, trace: tuple[str, ...], tmp_path: Path) -> None:
    if lacking := DRIVERS[driver].missing():
        pytest.skip(lacking)
    with pytest.raises(DifferenceError):
        try_driver(driver, asking(tmp_path, *trace))


@pytest.mark.share(5)
@pytest.mark.parametrize("driver", DRIVERS)
def test_every_driver_knows_the_end(driver: str, tmp_path: Path) -> None:
    if lacking := DRIVERS[driver].missing():
        pytest.skip(lacking)
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.mkdir()
    wrong.mkdir()
    kinds = {lines: (["1 pass"], LINE), questions: (["1 yes", "2 pass"], ASKS.replace("NO: COMPLETE", "NO: STOP"))}
    path, document = kinds.get(DRIVERS[driver].documents, (["1 yes", "2 pass"], ASKS))
    assert try_driver(driver, asking(right, *path, '=> COMPLETE ""', document=document))
    with pytest.raises(DifferenceError):
        try_driver(driver, asking(wrong, *path, '=> COMPLETE "more"', document=document))


def broken(prepared: Workspace) -> bool:
    """A target that does not know RETRY."""
    visits = prepared.scenario.trace.visits
    if any(visit.attempt > 1 for visit, _ in visits):
        raise DifferenceError("attempts", 1, 2, "said\nbefore")
    return True


def broken_by_tables(prepared: Workspace) -> bool:
    """The same where a table answers the commands."""
    return not prepared.scenario.is_tabled or broken(prepared)


def soak(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run the soak in this process."""
    monkeypatch.setattr(sys, "argv", ["soak", *words])
    return __main__.main()


@pytest.mark.soak
def test_a_difference_is_told_made_small_and_saved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(DRIVERS, "broken", Driver(broken))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert soak(monkeypatch, "--minutes", "1", "--seed", "1", "--drivers", "semantics,broken") == 1
    said = capsys.readouterr().out
    assert "DIFFERENCE on broken (seed 1): attempts:\n  got      1\n  expected 2\n  | said\n  | before\n" in said
    (folder,) = tmp_path.glob("difference-*")
    assert str(folder) in said
    saved = regressions.read(folder)
    assert len(saved.trace.visits) == 2
    assert list(saved.documents) == ["main.runbook.md"]
    assert saved.documents["main.runbook.md"].count("## ") == 1


@pytest.mark.soak
def test_the_outcomes_of_the_table_that_differed_are_saved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(DRIVERS, "broken", Driver(broken_by_tables, tables=6))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert soak(monkeypatch, "--minutes", "1", "--seed", "1", "--drivers", "broken") == 1
    (folder,) = tmp_path.glob("difference-*")
    assert any(visit.attempt > 1 for visit, _ in regressions.read(folder).trace.visits)


def test_the_soak_ends_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert soak(monkeypatch, "--minutes", "1", "--most", "7", "--seed", "1", "--drivers", "semantics") == 0
    assert "7 documents, paths: semantics 7\n" in capsys.readouterr().out


def test_documents_and_walks_are_counted_apart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    traces: list[Trace] = []
    monkeypatch.setitem(DRIVERS, "counted", Driver(partial(_took, traces), tables=6))
    assert soak(monkeypatch, "--minutes", "1", "--seed", "1", "--most", "40", "--drivers", "counted") == 0
    told = re.search(r"(\d+) documents, paths: counted (\d+)\n", capsys.readouterr().out)
    assert told
    documents, counted = map(int, told.groups())
    assert len(traces) == counted
    assert 40 <= counted <= 41
    assert documents < counted


def _took(traces: list[Trace], prepared: Workspace) -> bool:
    traces.append(prepared.scenario.trace)
    return True


def test_a_driver_that_cannot_be_taken_here_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(DRIVERS, "broken", Driver(broken, missing=lambda: "there is no node"))
    assert soak(monkeypatch, "--minutes", "1", "--most", "7", "--seed", "1", "--drivers", "semantics,broken") == 0
    said = capsys.readouterr().out
    assert "soak: broken is left out: there is no node\n" in said
    assert "7 documents, paths: semantics 7\n" in said
    assert soak(monkeypatch, "--minutes", "1", "--drivers", "broken") == 1


def test_an_unknown_driver_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        soak(monkeypatch, "--drivers", "make,mak")
    assert "no driver: mak; known are semantics, python, " in capsys.readouterr().err
