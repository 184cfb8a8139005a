"""The generated workflow against the oracle: the same walks for random runbooks."""

from __future__ import annotations

import pytest

from .shares import compare_random_cases

SHARES = {"github": 24, "github-waiting": 6, "github-agent": 8, "github-environment": 4}


@pytest.mark.parametrize("way", SHARES)
def test_it_walks_as_the_oracle(way: str) -> None:
    compare_random_cases(way, SHARES[way])
