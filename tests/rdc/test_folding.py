"""Repetitions are folded, and nothing is lost by that."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdc.trace.text import Turns, folded


def shown(letters: str) -> str:
    """`2a` for two in a row, `3(ab)` for three turns."""
    return " ".join(_shown(turns) for turns in folded(letters))


def _shown(turns: Turns) -> str:
    inner = "".join(f"{run.times if run.times > 1 else ''}{run.item}" for run in turns.items)
    return f"{turns.times}({inner})" if turns.times > 1 else inner


def unfolded(found: Iterable[Turns]) -> str:
    return "".join("".join(run.item * run.times for run in turns.items) * turns.times for turns in found)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("", ""),
        ("abc", "a b c"),
        ("aaab", "3a b"),
        ("ababab", "3(ab)"),
        ("xabababy", "x 3(ab) y"),
        ("aabaabaabc", "3(2ab) c"),
        ("abcab", "a b c a b"),
        ("abacabac", "2(abac)"),
    ],
)
def test_what_is_repeated_is_shown_once(letters: str, expected: str) -> None:
    assert shown(letters) == expected


@given(st.text("abc", max_size=60))
def test_nothing_is_lost(letters: str) -> None:
    found = list(folded(letters))
    assert unfolded(found) == letters
    for turns in found:
        for run in turns.items:
            assert letters[run.place : run.place + run.times] == run.item * run.times


def test_a_long_walk_is_folded_in_little_time() -> None:
    begun = time.process_time()
    assert len(list(folded("abcdefgh" * 10_000))) == 1
    list(folded("".join("ab"[number.bit_count() % 2] for number in range(20_000))))  # repeats nothing three times
    assert time.process_time() - begun < 5
