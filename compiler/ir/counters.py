"""Counters of a program. A state stores only the changed ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from compiler.ir.edges import Add, AtLeast, Effect, Reset, Set, counter_effects
from compiler.ir.program import Register, scope_members


class Bank:
    """A program's counters: their initial values, and the names in each scope."""

    def __init__(self, registers: Iterable[Register]) -> None:
        registers = tuple(registers)
        self.initial = {register.name: register.initial for register in registers}
        members = scope_members(registers)
        self.scopes = {scope: frozenset(register.name for register in found) for scope, found in members.items()}


class Counters(Mapping[str, int]):
    """The values of all counters at one moment. Only changed values take space."""

    __slots__ = ("_bank", "changed")

    def __init__(self, bank: Bank, changed: Mapping[str, int]) -> None:
        self._bank = bank
        self.changed = changed

    def __getitem__(self, name: str) -> int:
        """Return the value of a counter."""
        value = self.changed.get(name)
        return self._bank.initial[name] if value is None else value

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all counters."""
        return iter(self._bank.initial)

    def __len__(self) -> int:
        """Return the number of counters."""
        return len(self._bank.initial)

    def __eq__(self, other: object) -> bool:
        """Return whether all values are the same."""
        return isinstance(other, Counters) and self.changed == other.changed

    def __hash__(self) -> int:
        """Return the same hash for equal counters."""
        return hash(frozenset(self.changed.items()))

    def after(self, effects: Iterable[Effect]) -> Counters:
        """Return the counters after effects, applied in order. Effects on slots are ignored."""
        changed = dict(self.changed)
        new = Counters(self._bank, changed)
        for effect in counter_effects(effects):
            if isinstance(effect, Reset):
                members = self._bank.scopes.get(effect.scope, frozenset())
                for name in [name for name in changed if name in members]:
                    del changed[name]
                continue
            changed[effect.register] = value = new._value_after(effect)
            if value == self._bank.initial[effect.register]:
                del changed[effect.register]  # so that equal values compare equal
        return new

    def _value_after(self, effect: Set | Add | AtLeast) -> int:
        match effect:
            case Set(_, value):
                return value
            case Add(register, amount):
                return self[register] + (self[amount] if isinstance(amount, str) else amount)
            case AtLeast(register, value):
                return max(self[register], value)
            case _:
                assert_never(effect)
