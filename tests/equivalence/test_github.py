"""The generated workflow against the oracle: the same paths for random runbooks."""

from __future__ import annotations

import pytest

from tests.equivalence.shares import compare_random_cases

SHARES = {"github": 3, "github-agent": 1, "github-environment": 1}


@pytest.mark.parametrize("driver", SHARES)
def test_it_walks_as_the_oracle(driver: str) -> None:
    compare_random_cases(driver, SHARES[driver])
