"""Track known facts about slots along a path: which tests can still hold, and which always do (I17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.ir.edges import Clear, Keep, SlotTest
from compiler.ir.program import Input, Program

Domains = Mapping[str, frozenset[str]]
"""All possible strings of some slots."""


def find_domains(program: Program) -> Domains:
    """Return the slots of inputs with few values that never change during a run (I8)."""
    if not program.inputs:
        return {}
    effects = (effect for node in program.nodes for edge in node.edges for effect in edge.effects)
    jumped = (effect for jump in program.jumps for effect in jump.all_effects)
    changed = {effect.slot for effect in (*effects, *jumped) if isinstance(effect, Keep | Clear)}
    few = ((item.name, _values(item)) for item in program.inputs if item.name not in changed)
    return {name: values for name, values in few if values}


def _values(declared: Input) -> frozenset[str]:
    values = {"choice": declared.options, "boolean": ("true", "false")}.get(declared.type, ())
    is_optional = not declared.required and declared.default is None
    return frozenset((*values, *(("",) if is_optional and values else ())))


class Facts(Struct, frozen=True):
    """The known equalities and inequalities of slots."""

    domains: Domains
    equal: Mapping[str, str] = field(default_factory=dict)
    unequal: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def and_(self, tests: Iterable[SlotTest]) -> Facts | None:
        """Return the facts if these tests hold too, or None if they cannot."""
        found = self
        for test in tests:
            more = found.and_this(test)
            if more is None:
                return None
            found = more
        return found

    def and_not(self, test: SlotTest) -> Facts | None:
        """Return the facts if a test does not hold, or None if it always does."""
        return self.and_this(replace(test, operator="!=" if test.operator == "==" else "=="))

    def and_this(self, test: SlotTest) -> Facts | None:
        """Return the facts if one more test holds, or None if it cannot."""
        slot, text = test.slot, test.text
        excluded = self.unequal.get(slot, frozenset())
        domain = self.domains.get(slot)
        if test.operator == "==":
            fits = self.equal.get(slot, text) == text and text not in excluded and (domain is None or text in domain)
            return replace(self, equal={**self.equal, slot: text}) if fits else None
        excluded |= {text}
        if self.equal.get(slot) == text or (domain is not None and domain <= excluded):
            return None
        return replace(self, unequal={**self.unequal, slot: excluded})
