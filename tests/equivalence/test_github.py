"""The generated workflow against the oracle: the same walks for random runbooks."""

from __future__ import annotations

import pytest

from .shares import compare_random_cases

SHARES = {"github": 4, "github-waiting": 2, "github-agent": 2, "github-environment": 2}


@pytest.mark.parametrize("way", SHARES)
def test_it_walks_as_the_oracle(way: str) -> None:
    compare_random_cases(way, SHARES[way])
