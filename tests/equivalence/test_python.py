"""The generated Python program against the oracle: the same paths for random runbooks."""

from __future__ import annotations

import pytest

from tests.equivalence.shares import compare_random_cases

SHARES = {"python": 4, "script": 2, "python-waiting": 2, "python-steps": 2, "python-prompted": 1, "rdc-run": 1}


@pytest.mark.parametrize("driver", SHARES)
def test_it_walks_as_the_oracle(driver: str) -> None:
    compare_random_cases(driver, SHARES[driver])
