"""Fold effects: compute reads of known values, and drop values that are overwritten."""

from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from compiler.ir.edges import Add, AtLeast, Clear, Edge, Effect, Keep, Reset, Set
from compiler.ir.program import Node, Program


def fold_effects(program: Program) -> Program:
    """Return the program with shorter, equivalent lists of effects."""
    changed: dict[int, Node] = {}
    for place, node in enumerate(program.nodes):
        if any(len(edge.effects) > 1 for edge in node.edges):
            edges = tuple(map(_folded, node.edges))
            if edges != node.edges:
                changed[place] = replace(node, edges=edges)
    if not changed:
        return program
    return replace(program, nodes=tuple(changed.get(place, node) for place, node in enumerate(program.nodes)))


def _folded(edge: Edge) -> Edge:
    if len(edge.effects) < 2:
        return edge
    effects = tuple(_without_overwritten(_with_constants(edge.effects)))
    return edge if effects == edge.effects else replace(edge, effects=effects)


def _with_constants(effects: Iterable[Effect]) -> list[Effect]:
    """Replace added counters with their known numbers, and remove additions of zero."""
    known: dict[str, int] = {}
    folded: list[Effect] = []
    for written in effects:
        effect = written
        if isinstance(effect, Add) and isinstance(effect.amount, str) and effect.amount in known:
            effect = Add(effect.register, known[effect.amount])
        match effect:
            case Add(_, 0):
                continue
            case Set(register, value):
                known[register] = value
            case Add(register) | AtLeast(register):
                known.pop(register, None)
            case Reset():
                known.clear()
            case Keep() | Clear():
                pass  # doesn't change a counter
            case _:
                assert_never(effect)
        folded.append(effect)
    return folded


def _without_overwritten(effects: list[Effect]) -> list[Effect]:
    remaining: list[Effect] = []
    overwritten: set[str] = set()
    for effect in reversed(effects):
        match effect:
            case Set(register):
                if register in overwritten:
                    continue
                overwritten.add(register)
            case Add(register, amount):
                overwritten -= {register, amount}
            case AtLeast(register):
                overwritten.discard(register)
            case Reset() | Keep() | Clear():
                pass  # doesn't read a counter
            case _:
                assert_never(effect)
        remaining.append(effect)
    return remaining[::-1]
