"""The shells that scripts are written for: how each says a test, and all that differs from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from compiler.ir.edges import CounterTest


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Tests that all have to hold: those of counters, each with its variable, and commands that succeed (I17)."""

    counters: tuple[tuple[str, CounterTest], ...] = ()
    commands: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether it asks for anything."""
        return bool(self.counters or self.commands)


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
        counters = (f'[ "${name}" {_POSIX_OPERATORS[test.operator]} {test.value} ]' for name, test in tests.counters)
        return " && ".join([*counters, *tests.commands])

    def at_least(self, variable: str, value: int) -> str:
        """An assignment behind a test."""
        return f'[ "${variable}" -ge {value} ] || {variable}={value}'


class Bash:
    """bash, with its arithmetic."""

    terse = True

    def condition(self, alternatives: Sequence[Conjunction]) -> str:
        """One arithmetic expression if there are no commands."""
        if not any(tests.commands for tests in alternatives):
            return f"(({' || '.join(self._arithmetic(tests) for tests in alternatives)}))"
        found = [self._commands(tests) for tests in alternatives]
        return found[0] if len(found) == 1 else " || ".join(f"{{ {command}; }}" for command in found)

    def at_least(self, variable: str, value: int) -> str:
        """An assignment behind a comparison."""
        return f"(({variable} < {value})) && {variable}={value}"

    def _arithmetic(self, tests: Conjunction) -> str:
        return " && ".join(f"{name} {_BASH_OPERATORS[test.operator]} {test.value}" for name, test in tests.counters)

    def _commands(self, tests: Conjunction) -> str:
        counters = [f"(({self._arithmetic(tests)}))"] if tests.counters else []
        return " && ".join([*counters, *tests.commands])


POSIX: Dialect = Posix()
BASH: Dialect = Bash()
