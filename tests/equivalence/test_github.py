"""The generated workflow against the oracle: the same walks for random runbooks."""

from __future__ import annotations

import pytest

from .shares import compare_random_cases

SHARES = {"github": 3, "github-waiting": 1, "github-agent": 1, "github-environment": 1}


@pytest.mark.parametrize("way", SHARES)
def test_it_walks_as_the_oracle(way: str) -> None:
    compare_random_cases(way, SHARES[way])
