"""The meaning of compiled programs against the oracle: the same walks for random runbooks."""

from __future__ import annotations

import pytest

from .shares import compare_random_cases

SHARES = {"semantics": 40}


@pytest.mark.parametrize("way", SHARES)
def test_it_walks_as_the_oracle(way: str) -> None:
    compare_random_cases(way, SHARES[way])
