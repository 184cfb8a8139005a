"""bash, as scripts are written for it: how it says tests of counters."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.ir.edges import CounterTest

_OPERATORS = {"<": "<", ">=": ">=", "=": "=="}

Conjunction = tuple[tuple[str, CounterTest], ...]
"""Tests of counters that all have to hold, each with its variable (I17)."""


def condition(alternatives: Sequence[Conjunction]) -> str:
    """A command that succeeds where one of some conjunctions holds: one arithmetic expression."""
    return f"(({' || '.join(_arithmetic(tests) for tests in alternatives)}))"


def at_least(variable: str, value: int) -> str:
    """A command that raises a variable to a value if it is below."""
    return f"(({variable} < {value})) && {variable}={value}"


def _arithmetic(tests: Conjunction) -> str:
    return " && ".join(f"{name} {_OPERATORS[test.operator]} {test.value}" for name, test in tests)
