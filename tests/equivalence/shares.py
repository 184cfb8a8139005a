"""A bounded share of the soak for the usual tests: always the same cases."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

from .cases import Case
from .strategies import cases
from .ways import attempts


def compare_random_cases(way: str, number: int) -> None:
    """Run so many random cases in one way."""

    @settings(max_examples=number, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(cases())
    def compare(case: Case) -> None:
        with attempts(way, case) as found:
            assume(sum(attempt() for _, attempt in found))

    compare()
