"""When the places of a native workflow are reached: conditions over the outcomes of earlier steps of its job."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from backends.scheduling.condition import TRUE, Literal, expression
from backends.scheduling.names import Identifiers
from backends.scheduling.places import Place
from backends.scheduling.plan import Plan


class Reach(Struct, frozen=True):
    """Writes conditions of a plan as expressions."""

    plan: Plan

    @property
    def places(self) -> Sequence[Place]:
        """The places in order."""
        return self.plan.places

    @property
    def ids(self) -> Identifiers:
        """What steps and counters are called."""
        return self.plan.ids

    def condition(self, place: Place) -> str:
        """When a place is reached, as an expression; empty where that is always so."""
        reached = self.plan.flow.reached[place.name]
        return "" if reached == TRUE else expression(reached, self.compare)

    def compare(self, literal: Literal) -> str:
        """A comparison as an expression."""
        value = literal.value if isinstance(literal.value, int) else f"'{literal.value}'"
        return f"{self.fact(literal.step, literal.property)} {literal.operator} {value}"

    def fact(self, step: str, name: str) -> str:
        """A property of a step."""
        return f"steps.{step}.{name}"
