"""Join nodes that a picture shows as one: attempts at a step of a specification (I32), ends after broken answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from backends.picture.naming import free
from compiler.ir.edges import Add, CounterTest, Edge, OutcomeTest
from compiler.ir.program import Node, Program
from compiler.ir.tasks import UNREAD, Agent, Branch, End, Parallel
from compiler.ir.texts import Text

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


# --- Broken answers ---------------------------------------------------------------------------------------------------


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
