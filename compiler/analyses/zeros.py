"""Track whether counters can be zero, which is all that is known about their values, as sets of bits.

Counters never fall below zero here. Each has two bits in a number: the lower one is set if it can be zero, the higher
one if it can be more. This is enough for the marks of children and for counts after a start.
"""

from __future__ import annotations

from collections.abc import Iterable

from compiler.ir.edges import Add, AtLeast, CounterTest, Effect, Reset, Set, counter_effects
from compiler.ir.program import Register


class Track:
    """Counters of one scope whose values are followed together."""

    def __init__(self, registers: Iterable[Register]) -> None:
        registers = tuple(registers)
        self.scope = registers[0].scope
        self._zero = {register.name: 1 << 2 * place for place, register in enumerate(registers)}
        self.initial = sum(self._bit(register.name, register.initial) for register in registers)

    @property
    def names(self) -> Iterable[str]:
        """The names of the counters."""
        return self._zero.keys()

    def passing(self, values: int, test: CounterTest) -> int:
        """Return the values with which a test can hold, or 0."""
        can_hold = test.operator == ">=" or test.value > (test.operator == "<")
        return self._with(values, test.register, zero=_holds_at_zero(test), more=can_hold)

    def failing(self, values: int, test: CounterTest) -> int:
        """Return the values with which a test can fail, or 0."""
        can_fail = test.operator != ">=" or test.value > 1
        return self._with(values, test.register, zero=not _holds_at_zero(test), more=can_fail)

    def after(self, values: int, effects: Iterable[Effect]) -> int:
        """Return the values after effects; effects on slots don't matter here."""
        for effect in counter_effects(effects):
            if isinstance(effect, Reset):
                values = self.initial if f"{self.scope}/".startswith(f"{effect.scope}/") else values
            elif effect.register in self._zero:
                values = values & ~(3 * self._zero[effect.register]) | self._after(values, effect)
        return values

    def _after(self, values: int, effect: Set | Add | AtLeast) -> int:
        """Return the bits of the counter that an effect changes."""
        name = effect.register
        if isinstance(effect, Set):
            return self._bit(name, effect.value)
        number = effect.amount if isinstance(effect, Add) else effect.value
        same, more = values & 3 * self._zero[name], 2 * self._zero[name]
        if isinstance(number, int):
            return more if number > 0 else same
        added = self._zero.get(number)
        if added is None:  # its value is unknown
            return same | more
        return (same if values & added else 0) | (more if values & 2 * added else 0)

    def _bit(self, name: str, value: int) -> int:
        return self._zero[name] << (value > 0)

    def _with(self, values: int, name: str, *, zero: bool, more: bool) -> int:
        """Return the values limited to one counter being zero or more, as requested, or 0 if neither is possible."""
        bit = self._zero[name]
        left = values & bit * (zero + 2 * more)
        return values & ~(3 * bit) | left if left else 0


def _holds_at_zero(test: CounterTest) -> bool:
    return {"<": test.value > 0, ">=": test.value <= 0, "=": test.value == 0}[test.operator]
