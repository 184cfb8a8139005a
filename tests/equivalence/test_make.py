"""The generated Makefile against the oracle: the same paths for random runbooks."""

from __future__ import annotations

import pytest

from tests.equivalence.shares import compare_random_cases

SHARES = {"make": 6, "make-waiting": 2, "make-killed": 3, "make-prompted": 1, "make-plain": 8}


@pytest.mark.parametrize("driver", SHARES)
def test_it_walks_as_the_oracle(driver: str) -> None:
    compare_random_cases(driver, SHARES[driver])
