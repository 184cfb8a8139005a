"""When a native workflow reaches its places: conditions on the outcomes of earlier steps in the job."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from backends.scheduling.condition import TRUE, Literal, expression
from backends.scheduling.flow import Identifiers
from backends.scheduling.places import Place
from backends.scheduling.plan import Plan


class Reach(Struct, frozen=True):
    """Writes a plan's conditions as expressions."""

    plan: Plan

    @property
    def places(self) -> Sequence[Place]:
        """The places in order."""
        return self.plan.places

    @property
    def ids(self) -> Identifiers:
        """The identifiers of steps and counters."""
        return self.plan.ids

    def condition(self, place: Place) -> str:
        """Return the expression for when a place is reached; empty if it always is."""
        reached = self.plan.flow.reached[place.name]
        return "" if reached == TRUE else expression(reached, self.compare)

    def compare(self, literal: Literal) -> str:
        """Return a comparison as an expression."""
        value = literal.value if isinstance(literal.value, int) else f"'{literal.value}'"
        return f"{self.fact(literal.step, literal.property)} {literal.operator} {value}"

    def fact(self, step: str, name: str) -> str:
        """Return the expression for a property of a step."""
        return f"steps.{step}.{name}"
