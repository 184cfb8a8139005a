"""Registers in a script: tests of them, and effects on them as assignments (I17, I18, I19)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import assert_never

from msgspec import Struct

from backends.shell.dialects import Conjunction, at_least
from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    Edge,
    Effect,
    Keep,
    Reset,
    Set,
    counter_tests,
)
from compiler.ir.program import Register


class Registers(Struct, frozen=True):
    """The registers of a program in a script.

    `members` are the registers that a reset of each scope changes. `variables` are the names of counters in the script.
    `followed` are the counters that the script knows; it ignores effects on others.
    """

    members: Mapping[str, tuple[Register, ...]]
    variables: Mapping[str, str]
    followed: Collection[str]

    def asked(self, edge: Edge) -> Conjunction:
        """Return the tests of an edge."""
        return tuple((self.variables[test.register], test) for test in counter_tests(edge))

    def done(self, effects: Iterable[Effect]) -> list[str]:
        """Return the lines for some effects, in order."""
        return [line for effect in effects for line in self._effect(effect)]

    def _effect(self, effect: Effect) -> list[str]:
        if isinstance(effect, Set | Add | AtLeast) and effect.register not in self.followed:
            return []
        match effect:
            case Reset(scope):
                found = [register for register in self.members.get(scope, ()) if register.name in self.followed]
                return [f"{self.variables[register.name]}={register.initial}" for register in found]
            case Set(register, value):
                return [f"{self.variables[register]}={value}"]
            case Add(register, amount):
                name = self.variables[register]
                return [f"{name}=$(({name} + {self.variables[amount] if isinstance(amount, str) else amount}))"]
            case AtLeast(register, value):
                return [at_least(self.variables[register], value)]
            case Keep() | Clear():  # a target without slots rejects such a program earlier
                raise ValueError(f"an effect of the kind {effect.kind} cannot be expressed")
            case _:
                assert_never(effect)
