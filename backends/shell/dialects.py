"""Tests of counters in bash."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.ir.edges import CounterTest

_OPERATORS = {"<": "<", ">=": ">=", "=": "=="}

Conjunction = tuple[tuple[str, CounterTest], ...]
"""Tests of counters that must all hold, each with its variable (I17)."""


def condition(alternatives: Sequence[Conjunction]) -> str:
    """Return a command that succeeds if any of the conjunctions holds, as one arithmetic expression."""
    return f"(({' || '.join(_arithmetic(tests) for tests in alternatives)}))"


def at_least(variable: str, value: int) -> str:
    """Return a command that raises a variable to a minimum value."""
    return f"(({variable} < {value})) && {variable}={value}"


def _arithmetic(tests: Conjunction) -> str:
    return " && ".join(f"{name} {_OPERATORS[test.operator]} {test.value}" for name, test in tests)
