"""The effects of edges and of an operator's jumps, in the runtime's format."""

from __future__ import annotations

from typing import Any, assert_never

from compiler.ir.edges import Add, AtLeast, Clear, Effect, Keep, Reset, Set


def effect_table(effect: Effect) -> list[Any]:
    """Return an effect as a list: its target, its kind, and its value."""
    match effect:
        case Set(register, value):
            return [register, "=", value]
        case Reset(scope):
            return ["reset", scope]
        case Add(register, amount):
            return [register, "+", amount]
        case AtLeast(register, value):
            return [register, "at least", value]
        case Keep(slot, "output", name):
            return [slot, "keep", ["output", name]]
        case Keep(slot, extract=field, options=options):
            words = [field, *options] if field is not None or options else []
            return [slot, "keep", ["answer" if field is None else "field", *words]]
        case Clear(slot):
            return [slot, "clear", []]
        case _:
            assert_never(effect)
