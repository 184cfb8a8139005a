"""Jump threading: an edge into a branch that has only one way on leads straight to where that way goes."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.edges import Edge
from compiler.ir.program import Jump, Node, Program, jumps_of
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
    return replace(program, nodes=nodes, entry=entry)


def thread_operator_jumps(program: Program) -> Program:
    """The program with the jumps of its operator, those to groups too, led past such branches (I27)."""
    ways = {node.id: node.edges[0] for node in program.nodes if _is_pass_through(node)}
    found = {name: _led_on(jump, ways) for name, jump in jumps_of(program).items()}
    return replace(program, jumps=tuple(jump for name, jump in found.items() if jump != Jump(name, name)))


def _led_on(jump: Jump, ways: dict[str, Edge]) -> Jump:
    while jump.target in ways:
        way = ways[jump.target]
        jump = replace(jump, target=way.target, effects=jump.effects + way.effects)
    return jump


def _is_pass_through(node: Node) -> bool:
    return isinstance(node.task, Branch) and not node.edges[0].guard


def _threaded(edge: Edge, ways: dict[str, Edge]) -> Edge:
    """The edge led on as far as there is only one way; branches never lead back to each other, so this ends."""
    while edge.target in ways:
        way = ways[edge.target]
        written = edge.written or way.written
        edge = Edge(edge.guard, edge.effects + way.effects, way.target, written, edge.origins + way.origins)
    return edge
