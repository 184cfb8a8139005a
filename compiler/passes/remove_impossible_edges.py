"""Removal of what counters rule out: edges that no run can take, and tests that always hold where they are made.

A run is a walk from the start. A target in which an operator can jump to a unit has other runs too: there the pass must
not be used, or the jumps must be ways into the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from compiler.analyses.possible import Way, possible_ways
from compiler.ir.program import Edge, Node, OutcomeTest, Program, Verdict, may_follow


def remove_impossible_edges(program: Program) -> Program:
    """The program without edges that no run can take; nodes that no run reaches keep theirs."""
    ways = possible_ways(program)
    nodes = tuple(_narrowed(node, ways[node.id]) if node.id in ways else node for node in program.nodes)
    return replace(program, nodes=nodes) if ways else program


def _narrowed(node: Node, ways: Iterable[Way]) -> Node:
    """The node with the edges that can be taken, and those that the verifier needs to see that there is always one."""
    kept = {way.place: _relaxed(node.edges[way.place], way) for way in ways}
    total = {verdict for edge in kept.values() for verdict in _unconditional(edge)}
    for place, edge in enumerate(node.edges):
        if set(_unconditional(edge)) - total:
            kept.setdefault(place, edge)
    edges = tuple(kept[place] for place in sorted(kept))
    return node if edges == node.edges else replace(node, edges=edges)


def _relaxed(edge: Edge, way: Way) -> Edge:
    guard = tuple(test for test in edge.guard if isinstance(test, OutcomeTest) or test in way.open)
    return edge if guard == edge.guard else replace(edge, guard=guard)


def _unconditional(edge: Edge) -> Iterator[Verdict]:
    """The outcomes after which an edge can be taken whatever else holds."""
    if all(isinstance(test, OutcomeTest) for test in edge.guard):
        yield from (verdict for verdict in Verdict if may_follow(edge, verdict))
