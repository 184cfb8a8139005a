"""Join nodes that a picture shows as one: attempts at a step of a specification (I32), its stages, broken answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

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
        if found is not None:
            kept = (edge for edge in node.edges if _FAIL not in edge.guard)
            node = replace(node, edges=(*kept, Edge((_FAIL,), (), found.id)))  # noqa: PLW2901 (a changed copy)
        nodes.append(node)
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


def folded_steps(program: Program) -> Program:
    """Return the program with one node, without a frame, for all stages of a step of a specification."""
    stages: dict[str, list[Node]] = {}
    for node in program.nodes:
        if node.task.kind == "stage":
            stages.setdefault(node.group, []).append(node)
    home = {node.id: name for name, found in stages.items() for node in found}
    nodes = []
    for node in program.nodes:
        if node.id not in home:
            nodes.append(_joined(node, home))
        elif node.id == home[node.id]:  # the work itself; every step has it
            nodes.append(_folded(node, stages[node.group], home))
    return replace(program, entry=home.get(program.entry, program.entry), nodes=tuple(nodes))


def _folded(node: Node, stages: list[Node], home: Mapping[str, str]) -> Node:
    """Return the node of a step with the transitions that leave its stages or repeat them all."""
    edges = (edge for stage in stages for edge in stage.edges)
    leaving = (edge for edge in edges if home.get(edge.target) != node.id or _counts(edge))
    found = dict.fromkeys(replace(edge, target=home.get(edge.target, edge.target)) for edge in leaving)
    return replace(node, edges=tuple(sorted(found, key=_rank)))


def _rank(edge: Edge) -> tuple[bool, bool, bool]:
    """Return the place of a transition: success, then retries, other failures, and the one for all other outcomes."""
    return not edge.guard, _FAIL in edge.guard, not _counts(edge)


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
    known = [{test.word if isinstance(test, OutcomeTest) else "" for test in edge.guard} for edge in node.edges]
    edges = (edge for edge, words in zip(node.edges, known, strict=True) if words <= set(UNREAD))
    return list(dict.fromkeys(edge.target for edge in edges))


def _is_own_stop(node: Node, arriving: Counter[str]) -> bool:
    task = node.task
    return isinstance(task, End) and task.result == "stop" and not node.edges and arriving[node.id] == 1


def _joined(node: Node, instead: dict[str, str]) -> Node:
    edges = tuple(replace(edge, target=instead.get(edge.target, edge.target)) for edge in node.edges)
    if node.id in instead and isinstance(node.task, End):
        return replace(node, task=replace(node.task, message=Text()))
    return replace(node, edges=edges)
