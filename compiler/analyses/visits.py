"""Bound how often a run visits each node, from the counters that its loops test. An operator's jumps don't count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from compiler.analyses.domains import may_fall
from compiler.ir.edges import Add, AtLeast, CounterTest, Edge, Reset, counter_effects
from compiler.ir.graph import loop_regions
from compiler.ir.program import Node, Program, scope_members


def most_visits(program: Program) -> Mapping[str, int | None]:
    """Return the most visits of each node in a run, or None for a loop that no counter bounds.

    A run can take the bounded edges of a loop only so often. Without them, the loop falls apart into smaller ones.
    """
    found: dict[str, int | None] = dict.fromkeys(program.index(), 1)
    scopes = scope_members(program.counters)
    members = None if may_fall(program) else {scope: {one.name for one in several} for scope, several in scopes.items()}
    pending: list[tuple[Sequence[Node], int]] = [(program.nodes, 1)]
    while pending:
        for region, bounded, most in _loops(*pending.pop(), members):
            found |= dict.fromkeys((node.id for node in region), most)
            if most is not None:
                pending.append(([_without(node, bounded.keys()) for node in region], most))
    return found


def _loops(
    nodes: Sequence[Node], times: int, members: Mapping[str, set[str]] | None
) -> Iterator[tuple[Sequence[Node], Mapping[str, int], int | None]]:
    """Yield the loops among nodes that a run enters so many times: nodes, bounded counters, and the most visits."""
    for region in loop_regions({node.id: {edge.target: None for edge in node.edges} for node in nodes}):
        inside = [_within(node, region) for node in nodes if node.id in region]
        bounded = {} if members is None else _bounded([edge for node in inside for edge in node.edges], members)
        yield inside, bounded, times * (1 + sum(bounded.values())) if bounded else None


def _within(node: Node, region: frozenset[str]) -> Node:
    return replace(node, edges=tuple(edge for edge in node.edges if edge.target in region))


def _without(node: Node, bounded: Iterable[str]) -> Node:
    return replace(node, edges=tuple(edge for edge in node.edges if _counted(edge).isdisjoint(bounded)))


def _bounded(edges: Sequence[Edge], members: Mapping[str, set[str]]) -> dict[str, int]:
    """Return how often a run can take the edges that count in a register and test it, if it only rises."""
    falls = {name for edge in edges for name in _falling(edge, members)}
    found: dict[str, int] = {}
    for edge in edges:
        for test in edge.guard:
            if isinstance(test, CounterTest) and test.operator == "<" and test.register in _counted(edge) - falls:
                found[test.register] = max(test.value, found.get(test.register, 0))
    return found


def _counted(edge: Edge) -> set[str]:
    """Return the counters that an edge tests for a maximum and increases."""
    tested = {test.register for test in edge.guard if isinstance(test, CounterTest) and test.operator == "<"}
    return {effect.register for effect in edge.effects if isinstance(effect, Add) and effect.amount == 1} & tested


def _falling(edge: Edge, members: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the counters that may be lower after an edge. No counter is ever less than zero."""
    for effect in counter_effects(edge.effects):
        if isinstance(effect, Reset):
            yield from members.get(effect.scope, ())
        elif not isinstance(effect, Add | AtLeast):
            yield effect.register
