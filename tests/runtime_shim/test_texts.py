"""Texts of a document on the operator's screen: what steps say, and what could upset the command line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from runtime_shim.engine.texts import clean
from runtime_shim.engine.walk import advance
from tests.support.process import Place, program, shell


def test_a_step_says_its_prompt_when_the_run_comes_into_it(tmp_path: Path) -> None:
    steps = {name: shell("true", good, group="2") for name, good in (("2.1", "2.2"), ("2.2", "COMPLETE"))}
    table = program(steps, groups={"2": {"title": "Migrate", "prompt": "Nobody may\nwrite now.\033[2J"}})
    told = Place(tmp_path, table).run("run").err
    assert told.count("Nobody may\n") == 1
    assert "2 Migrate\n    Nobody may\n    write now.?[2J\n[1/2] 2.1 Work\n" in told


@pytest.mark.parametrize("title", ["100%", "%(prog)d 100%", "%(prog)s", "%"])
def test_a_title_with_percent_signs_is_shown_as_it_stands(tmp_path: Path, title: str) -> None:
    result = Place(tmp_path, program({"1": shell("true", "COMPLETE")}, title=title)).run("--help")
    assert result.code == 0
    assert title in result.out


def test_a_source_with_a_newline_in_its_name_keeps_the_table_whole(tmp_path: Path) -> None:
    table = program({"1": shell("true", "COMPLETE", at="new\nline.runbook.md:3")})
    assert len(Place(tmp_path, table).run("steps").out.splitlines()) == 2


@pytest.mark.parametrize("character", "\u061c\u200b\u202e\u2028\u0085\x1b\ufeff")
def test_characters_that_hide_or_steer_are_taken_out(character: str) -> None:
    assert clean(f"a{character}b") == "a?b"


def test_a_step_of_a_long_program_does_not_copy_its_counters() -> None:
    """The cost of a move must not grow with the number of counters."""

    def cost(count: int) -> float:
        registers = {f"{number} retries": 0 for number in range(count)}
        step = shell("true", "1", do=[["1 retries", "+", 1]])
        table = program({"1": step}, registers=registers)
        begun = time.perf_counter()
        for _ in range(200):
            advance(table, "1", registers, "pass")
        return time.perf_counter() - begun

    cost(10)
    assert cost(100_000) < 20 * cost(10) + 0.01
