"""The generated Python program against the oracle: the same walks for random runbooks."""

from __future__ import annotations

import pytest

from .shares import compare_random_cases

SHARES = {"python": 4, "python-waiting": 2, "python-prompted": 1, "rdc-run": 1}


@pytest.mark.parametrize("way", SHARES)
def test_it_walks_as_the_oracle(way: str) -> None:
    compare_random_cases(way, SHARES[way])
