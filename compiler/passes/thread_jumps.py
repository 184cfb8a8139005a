"""Jump threading: an edge into a branch that has only one way on leads straight to where that way goes."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.edges import Edge
from compiler.ir.program import Jump, Node, Program
from compiler.ir.tasks import Branch


def thread_jumps(program: Program) -> Program:
    """The program with edges led past branches that choose nothing; the branches stay, for others to remove."""
    ways = {node.id: node.edges[0] for node in program.nodes if _is_pass_through(node)}
    if not ways:
        return program
    nodes = tuple(
        replace(node, edges=tuple(_threaded(edge, ways) for edge in node.edges))
        if any(edge.target in ways for edge in node.edges)
        else node
        for node in program.nodes
    )
    entry = program.entry
    while entry in ways and not ways[entry].effects:
        entry = ways[entry].target
    return replace(program, nodes=nodes, entry=entry, jumps=tuple(_led_on(jump, ways) for jump in program.jumps))


def _is_pass_through(node: Node) -> bool:
    return isinstance(node.task, Branch) and not node.edges[0].guard


def _led_on(jump: Jump, ways: dict[str, Edge]) -> Jump:
    """The operator's jump led on as an edge is."""
    while jump.target in ways:
        way = ways[jump.target]
        jump = replace(jump, target=way.target, effects=jump.effects + way.effects)
    return jump


def _threaded(edge: Edge, ways: dict[str, Edge]) -> Edge:
    """The edge led on as far as there is only one way; branches never lead back to each other, so this ends."""
    while edge.target in ways:
        way = ways[edge.target]
        written = edge.written or way.written
        edge = Edge(edge.guard, edge.effects + way.effects, way.target, written, edge.origins + way.origins)
    return edge
