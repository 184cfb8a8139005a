"""Remove edges that counters rule out, and tests that always hold.

A run is a path from the start. It also continues wherever one of the program's operator jumps leads.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from compiler.analyses.exploration import explore
from compiler.ir.edges import Edge, OutcomeTest, Test, is_plain_for, output_names
from compiler.ir.program import Node, Program
from compiler.ir.tasks import alphabet


def remove_impossible_edges(program: Program) -> Program:
    """Return the program without edges that no run can take; unreachable nodes keep their edges."""
    possible = explore(program).edges
    if not possible:
        return program
    nodes = [_narrowed(node, possible[node.id]) if node.id in possible else node for node in program.nodes]
    is_same = all(old is new for old, new in zip(program.nodes, nodes, strict=True))
    return program if is_same else replace(program, nodes=tuple(nodes))


def _narrowed(node: Node, possible: Mapping[int, frozenset[Test]]) -> Node:
    """Return the node with its possible edges, and the edges that the verifier needs to see a complete choice.

    Edges that keep a value declare which names a command may set (I9), so the last edge with a name stays too.
    """
    kept = {place: _relaxed(node.edges[place], tests) for place, tests in possible.items()}
    words = alphabet(node.task) or (None,)
    total = {word for edge in kept.values() for word in words if is_plain_for(edge, word)}
    for place, edge in enumerate(node.edges):
        if any(is_plain_for(edge, word) for word in words if word not in total):
            kept.setdefault(place, edge)
    for place, edge in enumerate(node.edges):
        if not {*output_names([edge])} <= {*output_names(kept.values())}:
            kept[place] = edge
    edges = tuple(kept[place] for place in sorted(kept))
    return node if edges == node.edges else replace(node, edges=edges)


def _relaxed(edge: Edge, undecided: frozenset[Test]) -> Edge:
    guard = tuple(test for test in edge.guard if isinstance(test, OutcomeTest) or test in undecided)
    return edge if guard == edge.guard else replace(edge, guard=guard)
