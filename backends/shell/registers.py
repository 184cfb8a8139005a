"""Effects on registers as assignments of shell variables (I18)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from backends.shell.dialects import Dialect
from compiler.ir.program import Add, AtLeast, Effect, Register, Reset, Set


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a program in a script.

    `members` is what a reset of each scope touches, `variables` are the names there, `followed` the registers that the
    script knows of: what is done to others is left out.
    """

    members: Mapping[str, tuple[Register, ...]]
    variables: Mapping[str, str]
    followed: Collection[str]
    dialect: Dialect

    def assignments(self, effects: Iterable[Effect]) -> list[str]:
        """The lines that do some effects in order."""
        return [line for effect in effects for line in self._effect(effect)]

    def _effect(self, effect: Effect) -> list[str]:
        if not isinstance(effect, Reset) and effect.register not in self.followed:
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
            case _:
                assert_never(effect)
