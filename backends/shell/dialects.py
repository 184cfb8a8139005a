"""The shells that scripts are written for: how each says a test, and all that differs from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from compiler.ir.program import CounterTest

Conjunction = Sequence[tuple[str, CounterTest]]
"""Tests that all have to hold, each with the variable of its counter."""


class Dialect(Protocol):
    """A shell. `terse` says that ways of one line stand beside their word, and that equal ways are written once."""

    terse: bool

    def condition(self, alternatives: Sequence[Conjunction]) -> str:
        """A command that succeeds where one of some conjunctions holds."""

    def at_least(self, variable: str, value: int) -> str:
        """A command that raises a variable to a value if it is below."""


_POSIX_OPERATORS = {"<": "-lt", ">=": "-ge", "=": "-eq"}
_BASH_OPERATORS = {"<": "<", ">=": ">=", "=": "=="}


class Posix:
    """POSIX sh, as a person would write it by hand."""

    terse = False

    def condition(self, alternatives: Sequence[Conjunction]) -> str:
        """Tests by `[`."""
        (tests,) = alternatives  # equal ways are not joined, see `terse`
        return " && ".join(f'[ "${name}" {_POSIX_OPERATORS[test.operator]} {test.value} ]' for name, test in tests)

    def at_least(self, variable: str, value: int) -> str:
        """An assignment behind a test."""
        return f'[ "${variable}" -ge {value} ] || {variable}={value}'


class Bash:
    """bash, with its arithmetic."""

    terse = True

    def condition(self, alternatives: Sequence[Conjunction]) -> str:
        """One arithmetic expression."""
        return f"(({' || '.join(self._conjunction(tests) for tests in alternatives)}))"

    def at_least(self, variable: str, value: int) -> str:
        """An assignment behind a comparison."""
        return f"(({variable} < {value})) && {variable}={value}"

    def _conjunction(self, tests: Conjunction) -> str:
        return " && ".join(f"{name} {_BASH_OPERATORS[test.operator]} {test.value}" for name, test in tests)


POSIX: Dialect = Posix()
BASH: Dialect = Bash()
