"""Budgets in lines and bytes (the table of budgets): `make bench` prints them, and none is exceeded."""

from __future__ import annotations

from benchmarks.sizes import Size, changed, sizes, sizes_table


def test_nothing_is_larger_than_it_may_be() -> None:
    over = [size for size in sizes() if size.is_over]
    assert over == [], sizes_table(over)


def test_what_is_larger_would_be_found() -> None:
    assert Size("a file", "lines", 11, 10).is_over
    assert changed(["a", "b", "c"], ["a", "x", "c", "d"]) == 3
