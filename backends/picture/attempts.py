"""Draws one box for the failures of all stages of a step, with the decision about another attempt (I32)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from backends.picture.naming import free
from compiler.ir.edges import Add, CounterTest, Edge, OutcomeTest
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Branch

_FAIL = OutcomeTest("fail")


def joined_attempts(program: Program) -> Program:
    """Return the program with a branch for each retried step, instead of a retry count in each stage."""
    ids = {node.id for node in program.nodes}
    branches: dict[tuple[Edge, ...], Node] = {}
    for node in program.nodes:
        failures = _failures(node)
        if failures and failures not in branches:
            name = free(f"{node.group}/again", ids)
            ids.add(name)
            branches[failures] = Node(name, node.title, node.origin, Branch(), failures, group=node.group)
    if not branches:
        return program
    nodes: list[Node] = []
    last = {key: max(index for index, node in enumerate(program.nodes) if _failures(node) == key) for key in branches}
    for index, node in enumerate(program.nodes):
        found = branches.get(_failures(node))
        nodes.append(node if found is None else _leading_to(node, found.id))
        nodes += [branch for key, branch in branches.items() if last[key] == index]
    return replace(program, nodes=tuple(nodes))


def _failures(node: Node) -> tuple[Edge, ...]:
    """Return the edges of a stage's failure that may retry the step, without their outcome test."""
    if node.task.kind != "stage":
        return ()
    failing = [edge for edge in node.edges if _FAIL in edge.guard]
    if not any(_counts(edge) for edge in failing):
        return ()
    return tuple(replace(edge, guard=tuple(test for test in edge.guard if test != _FAIL)) for edge in failing)


def _counts(edge: Edge) -> bool:
    added = {effect.register for effect in edge.effects if isinstance(effect, Add)}
    return any(isinstance(test, CounterTest) and test.register in added for test in edge.guard)


def _leading_to(node: Node, target: str) -> Node:
    kept: Sequence[Edge] = [edge for edge in node.edges if _FAIL not in edge.guard]
    return replace(node, edges=(*kept, Edge((_FAIL,), (), target)))
