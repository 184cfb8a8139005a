"""Draws several ends of a run after a broken answer as one end. The arrows show what happened."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from compiler.ir.edges import Edge, OutcomeTest
from compiler.ir.program import Node, Program
from compiler.ir.tasks import UNREAD, Agent, End, Parallel
from compiler.ir.texts import Text


def joined_breakdowns(program: Program) -> Program:
    """Return the program with one end, without a message, for all broken answers of a step."""
    several = [found for node in program.nodes if len(found := _without_verdict(node)) > 1]
    if not several:  # true for most programs
        return program
    index = program.index()
    arriving = Counter(target for node in program.nodes for target in {edge.target for edge in node.edges})
    instead: dict[str, str] = {}
    for targets in several:
        ends = [name for name in targets if _is_own_stop(index[name], arriving)]
        if len(ends) > 1:
            instead |= dict.fromkeys(ends, ends[0])
    if not instead:
        return program
    kept = (node for node in program.nodes if instead.get(node.id, node.id) == node.id)
    return replace(program, nodes=tuple(_joined(node, instead) for node in kept))


def _without_verdict(node: Node) -> list[str]:
    """Return the destinations of answers without a verdict. The last edge may be for these and all others."""
    if type(node.task) not in (Agent, Parallel):
        return []
    edges = (edge for edge in node.edges if not edge.guard or _words(edge) <= set(UNREAD))
    return list(dict.fromkeys(edge.target for edge in edges))


def _words(edge: Edge) -> set[str]:
    """Return the words of an edge. An edge with other tests is for none of these words."""
    return {test.word if isinstance(test, OutcomeTest) else "" for test in edge.guard}


def _is_own_stop(node: Node, arriving: Counter[str]) -> bool:
    task = node.task
    return isinstance(task, End) and task.result == "stop" and not node.edges and arriving[node.id] == 1


def _joined(node: Node, instead: dict[str, str]) -> Node:
    edges = tuple(replace(edge, target=instead.get(edge.target, edge.target)) for edge in node.edges)
    if node.id in instead and isinstance(node.task, End):
        return replace(node, task=replace(node.task, message=Text()))
    return replace(node, edges=edges)
