"""Registers in a script: tests on them, and effects on them as assignments (I17, I18, I19)."""

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

    `members` is what a reset of each scope touches, `variables` are the names of counters there, `followed` those
    that the script knows of: what is done to other counters is left out.
    """

    members: Mapping[str, tuple[Register, ...]]
    variables: Mapping[str, str]
    followed: Collection[str]

    def asked(self, edge: Edge) -> Conjunction:
        """What an edge asks of registers."""
        return tuple((self.variables[test.register], test) for test in counter_tests(edge))

    def done(self, effects: Iterable[Effect]) -> list[str]:
        """The lines that do some effects in order."""
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
            case Keep() | Clear():  # a target without slots should have refused the program
                raise ValueError(f"an effect of the kind {effect.kind} cannot be expressed")
            case _:
                assert_never(effect)
