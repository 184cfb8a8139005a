"""The soak finds a difference, prints it, makes it small and saves it, and it ends when it was asked to."""

import re
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.differential import soak
from tests.differential.case import Case, DifferenceError
from tests.differential.drivers import DRIVERS, SEMANTICS, Driver
from tests.differential.drivers.workspace import Workspace
from tests.differential.oracles import agent_workflow, playbook, program, rundown
from tests.differential.shrink import made_smaller
from tests.differential.soak import FORMATS, Format, main


def has_kind(kind: str) -> Callable[[Any], bool]:
    return lambda case: any(node["task"]["kind"] == kind for node in case.program["nodes"])


def has_path(name: str, drawn: Any) -> bool:
    try:
        ORACLES[name](drawn)
    except Exception:  # noqa: BLE001 (what is proposed may be no document)
        return False
    return True


ORACLES: dict[str, Callable[[Any], object]] = {
    "rundown": rundown.walk,
    "program": program.walk,
    "playbook": playbook.walk,
    "agent-workflow": agent_workflow.walk,
}
SMALL: dict[str, tuple[Callable[[Any], bool], Callable[[Any], int], int]] = {
    "rundown": (
        lambda drawn: any(step.children for step in drawn.runbook.steps),
        lambda drawn: len(drawn.runbook.steps) + len(drawn.files),
        1,
    ),
    "program": (has_kind("tool"), lambda case: len(case.program["nodes"]), 2),
    "playbook": (
        lambda drawn: any(step.tool or step.elicit for step in drawn.book.every_step),
        lambda drawn: len(drawn.book.steps) + len(drawn.book.system),
        1,
    ),
    "agent-workflow": (
        lambda drawn: any(step.human for step in drawn.flow.steps),
        lambda drawn: len(drawn.flow.steps),
        1,
    ),
}
"""For each format what shows, and how large a document is and shall be."""


@pytest.mark.parametrize("name", SMALL)
def test_what_shows_a_difference_is_made_small(name: str) -> None:
    shows, size, least = SMALL[name]
    drawn = next(
        drawn for seed in count() if shows(drawn := FORMATS[name].draw(seed, SEMANTICS)) and size(drawn) > least + 1
    )
    smallest = size(drawn)

    def is_smaller(other: Any) -> bool:
        nonlocal smallest
        is_taken = least < smallest and shows(other) and has_path(name, other)
        smallest = min(smallest, size(other)) if is_taken else smallest
        return is_taken

    found = made_smaller(drawn, is_smaller, 30.0)
    assert size(found) == least


def broken(prepared: Workspace) -> bool:
    """A target that does not know RETRY."""
    if any(visit.attempt > 1 for visit in prepared.trace.visits):
        raise DifferenceError("attempts", 1, 2, "printed\nbefore")
    return True


def with_driver(monkeypatch: pytest.MonkeyPatch, driver: Driver) -> None:
    monkeypatch.setitem(DRIVERS, "broken", driver)
    form = FORMATS["rundown"]
    monkeypatch.setitem(FORMATS, "rundown", Format("rundown", form.draw, form.case_of, (*form.drivers, "broken")))


@pytest.mark.parametrize("seconds", [0.0, pytest.param(90.0, marks=pytest.mark.soak)])
def test_a_difference_is_printed_made_small_and_saved(
    seconds: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with_driver(monkeypatch, Driver(broken, "python"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(soak, "SHRINKING", seconds)
    assert main(["--minutes", "1", "--seed", "2", "--formats", "rundown", "--drivers", "semantics,broken"]) == 1
    printed = capsys.readouterr().out
    assert re.search(r"DIFFERENCE on rundown by broken \(seed \d+\): attempts:\n  got      1\n  expected 2\n", printed)
    assert "  | printed\n  | before\n" in printed
    (folder,) = tmp_path.glob("difference-*")
    assert str(folder) in printed
    saved = Case.read(folder)
    assert saved.trace
    assert any(visit.attempt > 1 for visit in saved.trace.visits)
    if seconds:
        assert len(saved.trace.visits) == 2
        assert [text.count("## ") for text in saved.documents.values()] == [1]


def test_the_soak_ends_when_enough_was_tried(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--minutes", "1", "--most", "3", "--seed", "1", "--formats", "rundown,playbook", "--drivers", "semantics"]
    assert main(words) == 0
    assert "3 rundowns, paths: semantics 3; 3 playbooks, paths: semantics 3\n" in capsys.readouterr().out


def test_a_driver_that_this_machine_cannot_run_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_driver(monkeypatch, Driver(broken, "python", missing=lambda: "there is no node"))
    words = ["--minutes", "1", "--most", "2", "--formats", "rundown"]
    assert main([*words, "--drivers", "semantics,broken"]) == 0
    printed = capsys.readouterr().out
    assert "soak: broken is left out: there is no node\n" in printed
    assert "2 rundowns, paths: semantics 2\n" in printed
    assert main([*words, "--drivers", "broken"]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--drivers", "make,mak"], "no driver: mak; known are semantics, python, "),
        (["--formats", "rundwn"], "no format: rundwn; known are rundown, program, "),
    ],
)
def test_an_unknown_name_is_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert message in capsys.readouterr().err
