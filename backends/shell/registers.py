"""Registers in a script: tests on them, and effects on them as assignments and commands (I17, I18, I19)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, assert_never

from backends.shell.dialects import Conjunction, Dialect
from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    CounterTest,
    Edge,
    Effect,
    Keep,
    Reset,
    Set,
    SlotTest,
    register_tests,
)
from compiler.ir.program import Register


class Slots(Protocol):
    """How a script works with slots."""

    def holds(self, test: SlotTest) -> str:
        """A command that succeeds where a test holds."""

    def keep(self, effect: Keep) -> list[str]:
        """The lines that keep a text or a value."""

    def clear(self, effect: Clear) -> list[str]:
        """The lines that make a slot unset."""


class NoSlots:
    """Slots for a target that does not carry them, and should have refused the program."""

    def holds(self, test: SlotTest) -> str:
        """Nothing."""
        raise ValueError(f"a test of the kind {test.kind} cannot be expressed")

    def keep(self, effect: Keep) -> list[str]:
        """Nothing."""
        raise ValueError(f"an effect of the kind {effect.kind} cannot be expressed")

    def clear(self, effect: Clear) -> list[str]:
        """Nothing."""
        raise ValueError(f"an effect of the kind {effect.kind} cannot be expressed")


NO_SLOTS = NoSlots()


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a program in a script.

    `members` is what a reset of each scope touches, `variables` are the names of counters there, `followed` those
    that the script knows of: what is done to other counters is left out.
    """

    members: Mapping[str, tuple[Register, ...]]
    variables: Mapping[str, str]
    followed: Collection[str]
    dialect: Dialect
    slots: Slots = NO_SLOTS

    def asked(self, edge: Edge) -> Conjunction:
        """What an edge asks of registers."""
        tests = register_tests(edge)
        counters = tuple((self.variables[test.register], test) for test in tests if isinstance(test, CounterTest))
        return Conjunction(counters, tuple(self.slots.holds(test) for test in tests if isinstance(test, SlotTest)))

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
                return [self.dialect.at_least(self.variables[register], value)]
            case Keep():
                return self.slots.keep(effect)
            case Clear():
                return self.slots.clear(effect)
            case _:
                assert_never(effect)
