"""The generated worker against the oracle: the same paths for random runbooks."""

from __future__ import annotations

import pytest

from tests.equivalence.drivers import DRIVERS
from tests.equivalence.shares import compare_random_cases

SHARES = {"dbos": 1, "dbos-waiting": 1}


@pytest.mark.parametrize("driver", ["dbos", pytest.param("dbos-waiting", marks=pytest.mark.soak)])
def test_it_walks_as_the_oracle(driver: str) -> None:
    if lacking := DRIVERS[driver].missing():
        pytest.skip(lacking)
    compare_random_cases(driver, SHARES[driver])
