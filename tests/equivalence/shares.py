"""A bounded share of the soak for the usual tests: always the same cases."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

from .cases import Case
from .scenario import scenario
from .strategies import cases
from .ways import try_way


def compare_random_cases(way: str, number: int) -> None:
    """Run so many random cases in one way."""

    @settings(max_examples=number, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(cases())
    def compare(case: Case) -> None:
        assume(try_way(way, scenario(case)))

    compare()
