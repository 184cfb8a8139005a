"""Answers from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.process import Place, ask, program, shell

pytestmark = pytest.mark.process

THREE = program(
    {"1": ask("2", "2"), "a b": ask("3", "3"), "2": ask("a b", "a b"), "3": ask("COMPLETE", question="yes/no")}
)


def answers(place: Place, text: str, name: str = "answers") -> tuple[str, str]:
    (place.path / name).write_text(text, encoding="utf-8")
    return ("--answers", name)


@pytest.mark.parametrize(
    ("text", "walk"),
    [
        ("pass\nFAIL\nYes\nno\n", ["1 pass", "2 fail", "a b pass", "3 fail"]),
        ("\ufeff# first\n\n  pass  # good\n2 fail\r\na b no\nyes", ["1 pass", "2 fail", "a b fail", "3 pass"]),
        ("3 no\nfail\npass\n1 pass\nfail\n", ["1 pass", "2 fail", "a b pass", "3 fail"]),
    ],
)
def test_answers_are_given(tmp_path: Path, text: str, walk: list[str]) -> None:
    place = Place(tmp_path, THREE)
    result = place.run("run", *answers(place, text))
    assert place.walk() == walk, result.err
    assert result.code == (0 if walk[-1].endswith("pass") else 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [("pass\nperhaps\n", 2), ("4 pass\n", 1), ("pass\n\nsh pass\n", 3), ("1 pass fail\n", 1), ("1\n", 1)],
)
def test_bad_line_is_an_error_up_front(tmp_path: Path, text: str, line: int) -> None:
    place = Place(tmp_path, program({"sh": shell("echo >> log", "1"), "1": ask("COMPLETE")}))
    result = place.run("run", *answers(place, text))
    assert result.code == 2
    assert f"answers:{line}: " in result.last
    assert not place.journal.exists()
    assert place.text("log") == ""


def test_used_lines_stay_used(tmp_path: Path) -> None:
    place = Place(tmp_path, THREE)
    first = answers(place, "pass\nfail\n")
    assert place.run("run", *first).code == 75
    assert place.run("resume", *first).code == 75
    assert place.walk() == ["1 pass", "2 fail"]
    copy = answers(place, "pass\nfail\n", "copy")
    again = place.run("resume", *copy)
    assert again.code == 75, "the content counts, not the name"
    assert "used before" not in again.err
    other = answers(place, "fail\nyes\n", "other")
    result = place.run("resume", *other)
    assert result.code == 0
    assert result.err.count("other has changed since the last call") == 1
    assert place.walk() == ["1 pass", "2 fail", "a b fail", "3 pass"]


def test_each_line_of_a_step_once_and_in_order(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE", "1")}))
    assert place.run("run", *answers(place, "1 fail\n1 fail\n1 pass\n")).code == 0
    assert place.walk() == ["1 fail", "1 fail", "1 pass"]


def test_line_of_another_step_is_left(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": ask("COMPLETE")}))
    assert place.run("run", *answers(place, "2 pass\n")).code == 75
    assert place.walk() == []


def test_answers_where_nothing_is_asked_are_left_over(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("echo >> log", "COMPLETE")}))
    assert place.run("run", *answers(place, "pass\n")).code == 0


def test_all_bad_lines_are_told_at_once(tmp_path: Path) -> None:
    place = Place(tmp_path, THREE)
    result = place.run("run", *answers(place, "perhaps\npass\n9 pass\n1 never\n"))
    assert result.code == 2
    assert [line.split(": ")[-2] for line in result.err.splitlines()] == ["answers:1", "answers:3", "answers:4"]
    assert result.last.startswith("rdc: error: answers:4: ")
