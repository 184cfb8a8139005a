"""The values that counters can have, as sets of ranges that no guard tells apart.

The ranges of a counter lie between the numbers that it is compared with. A set of them is a number with one bit for
each; counters whose values are followed together have bits of their own in one such number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import inf
from typing import assert_never

from compiler.ir.program import Add, AtLeast, CounterTest, Effect, Program, Register, Reset, Set


@dataclass(frozen=True, slots=True)
class Scale:
    """For each counter that a guard depends on the numbers at which its ranges begin, and the least value of any."""

    points: Mapping[str, frozenset[int]]
    lowest: float


def scale(program: Program, names: AbstractSet[str]) -> Scale:
    """The scale of some counters, with those that are added to them.

    Whether a counter is zero is always told, since sums depend on that.
    """
    if not names:
        return Scale({}, 0)
    edges = [edge for node in program.nodes for edge in node.edges]
    points: dict[str, set[int]] = {}
    for edge in edges:
        for test in edge.guard:
            if isinstance(test, CounterTest) and test.register in names:
                points.setdefault(test.register, {1}).update(_points(test))
    effects = [effect for edge in edges for effect in edge.effects]
    sums = [(effect.amount, effect.register) for effect in effects if isinstance(effect, Add)]
    while more := {amount for amount, name in sums if name in points and isinstance(amount, str)} - points.keys():
        points |= {name: {1} for name in more}
    can_fall = any(number < 0 for number in _numbers(program.registers, effects))
    return Scale({name: frozenset(found) for name, found in points.items()}, -inf if can_fall else 0)


def _points(test: CounterTest) -> tuple[int, ...]:
    return (test.value, test.value + 1) if test.operator == "=" else (test.value,)


def _numbers(registers: Iterable[Register], effects: Iterable[Effect]) -> Iterator[int]:
    yield from (register.initial for register in registers)
    for effect in effects:
        match effect:
            case Set(_, number) | AtLeast(_, number):
                yield number
            case Add(_, amount):
                yield from (amount,) if isinstance(amount, int) else ()
            case Reset():
                pass
            case _:
                assert_never(effect)


@dataclass(frozen=True, slots=True)
class Range:
    """The values from `low` to `high`, both included, and the bit that stands for them."""

    low: float
    high: float
    bit: int


class Track:
    """Counters of one scope whose values are followed together."""

    def __init__(self, registers: Iterable[Register], scale: Scale) -> None:
        registers = tuple(registers)
        self.scope = registers[0].scope
        self._lowest = scale.lowest
        self._ranges: dict[str, tuple[Range, ...]] = {}
        self._whole: dict[str, int] = {}
        self.bits = 0
        self.initial = 0
        for register in registers:
            begins = [scale.lowest, *sorted(point for point in scale.points[register.name] if point > scale.lowest)]
            ends = [*(begin - 1 for begin in begins[1:]), inf]
            found = tuple(
                Range(low, high, 1 << self.bits + number)
                for number, (low, high) in enumerate(zip(begins, ends, strict=True))
            )
            self._ranges[register.name] = found
            self._whole[register.name] = sum(item.bit for item in found)
            self.bits += len(found)
            self.initial |= self._between(register.name, register.initial, register.initial)

    @property
    def names(self) -> Iterable[str]:
        """The names of the counters."""
        return self._ranges.keys()

    def passing(self, values: int, test: CounterTest) -> int:
        """Those of some values with which a test holds; 0 if there are none."""
        name, value = test.register, test.value
        match test.operator:
            case "<":
                return self._within(values, name, -inf, value - 1)
            case ">=":
                return self._within(values, name, value, inf)
            case "=":
                return self._within(values, name, value, value)

    def failing(self, values: int, test: CounterTest) -> int:
        """Those of some values with which a test does not hold; 0 if there are none."""
        whole = self._whole[test.register]
        left = values & whole & ~self.passing(values, test)
        return values & ~whole | left if left else 0

    def after(self, values: int, effects: Iterable[Effect]) -> int:
        """The values after effects."""
        for effect in effects:
            if isinstance(effect, Reset):
                values = self.initial if self._is_reset(effect.scope) else values
            elif effect.register in self._ranges:
                whole = self._whole[effect.register]
                values = values & ~whole | self._after(values, effect)
        return values

    def _is_reset(self, scope: str) -> bool:
        return bool(scope) and (self.scope == scope or self.scope.startswith(f"{scope}/"))

    def _after(self, values: int, effect: Set | Add | AtLeast) -> int:
        name, found = effect.register, 0
        if isinstance(effect, Set):
            return self._between(name, effect.value, effect.value)
        for old in self._ranges[name]:
            if old.bit & values and isinstance(effect, AtLeast):
                found |= self._between(name, max(old.low, effect.value), max(old.high, effect.value))
            elif old.bit & values and isinstance(effect, Add):
                for low, high in self._amounts(values, effect.amount):
                    found |= self._between(name, old.low + low, old.high + high)
        return found

    def _amounts(self, values: int, amount: int | str) -> Iterator[tuple[float, float]]:
        if isinstance(amount, int):
            yield amount, amount
        elif amount in self._ranges:
            yield from ((item.low, item.high) for item in self._ranges[amount] if item.bit & values)
        else:
            yield self._lowest, inf

    def _between(self, name: str, low: float, high: float) -> int:
        return sum(item.bit for item in self._ranges[name] if item.low <= high and low <= item.high)

    def _within(self, values: int, name: str, low: float, high: float) -> int:
        found = values & self._between(name, low, high)
        return values & ~self._whole[name] | found if found else 0
