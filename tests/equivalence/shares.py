"""A bounded share of the soak for the usual tests: always the same cases."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

from tests.equivalence.cases import Case
from tests.equivalence.drivers import DRIVERS, attempts


def compare_random_cases(driver: str, number: int) -> None:
    """Run so many random cases with one driver."""

    @settings(max_examples=number, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(DRIVERS[driver].documents())
    def compare(case: Case) -> None:
        with attempts(driver, case) as found:
            assume(sum(attempt() for _, attempt in found))

    compare()
