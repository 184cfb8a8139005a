"""The places of a program: single nodes, and loops. Each is one step.

A job runs each step at most once, in the order of the file. So each strongly connected component of the control-flow
graph becomes one place. The rest has no cycle and is sorted topologically.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.edges import Add, Clear, CounterTest, Edge, Effect, Keep, OutcomeTest, Reset
from compiler.ir.graph import Graph, ordered_components, to_graph
from compiler.ir.program import Node, Program, scope_members
from compiler.ir.tasks import Branch, End, Shell, Verdict
from compiler.ir.texts import Text
from compiler.passes import optimize

Kind = Literal["step", "branch", "end", "loop"]

Scopes = Mapping[str, AbstractSet[str]]
"""For each scope, the names of the counters that its reset changes."""


class Place(Struct, frozen=True):
    """One or more nodes, in document order, that form one step. `name` is the id of the first."""

    kind: Kind
    nodes: tuple[Node, ...]

    @property
    def name(self) -> str:
        """The name of the place in conditions."""
        return self.nodes[0].id

    @property
    def node(self) -> Node:
        """The only node of a place that is not a loop."""
        return self.nodes[0]


class Retry(Struct, frozen=True):
    """How often a node retries itself after a PASS and after a FAIL; None for never."""

    on_pass: int | None
    on_fail: int | None


def simplified(program: Program) -> Program:
    """Return the program without nodes that no step shows: ends of nested runbooks, and duplicate ends."""
    first: dict[tuple[str, Text], str] = {}
    names: dict[str, str] = {}
    nodes = []
    for node in program.nodes:
        if isinstance(node.task, End) and node.is_passed:
            nodes.append(replace(node, task=Branch()))
            continue
        if isinstance(node.task, End) and not node.variables:
            names[node.id] = first.setdefault((node.task.result, node.task.message), node.id)
        nodes.append(node)
    merged = tuple(
        replace(node, edges=tuple(replace(edge, target=names.get(edge.target, edge.target)) for edge in node.edges))
        for node in nodes
    )
    return optimize(replace(program, nodes=merged), jumps=False)


def retry_of(node: Node) -> Retry | None:
    """Return how a node retries itself, if that is its only path back to itself, or None."""
    limits: dict[str, int] = {}
    for edge in node.edges:
        if edge.target != node.id:
            continue
        match edge:
            case Edge(guard=(OutcomeTest(word), CounterTest(register, "<", limit)), effects=(Add(counted, 1),)) if (
                register == counted == node.retries and word not in limits
            ):
                limits[word] = limit
            case _:
                return None
    return Retry(limits.get(Verdict.PASS), limits.get(Verdict.FAIL)) if limits else None


def find_places(program: Program, together: Iterable[frozenset[str]] = (), *, repeats: bool = True) -> list[Place]:
    """Return the places of a program in topological order, preferring document order.

    Args:
        program: A program without unreachable nodes.
        together: Sets of nodes that must be one place, each closed under paths between its members.
        repeats: Whether a step can retry a node itself, so that the node is not a loop.

    Returns:
        Places that contain every node once. Every edge leads within its place or to a later one.
    """
    graph = to_graph(program)
    for node in program.nodes:
        if repeats and isinstance(node.task, Shell) and retry_of(node) is not None:
            graph[node.id].pop(node.id, None)
    index = program.index()
    components = ordered_components(graph, together)
    return [_place([index[name] for name in names], graph) for names in components]


def _place(nodes: list[Node], graph: Graph) -> Place:
    node = nodes[0]
    if len(nodes) > 1 or node.id in graph[node.id]:
        return Place("loop", tuple(nodes))
    if isinstance(node.task, Branch):
        return Place("branch", (node,))
    return Place("end" if isinstance(node.task, End) else "step", (node,))


def changed_by(effect: Effect, scopes: Scopes) -> AbstractSet[str]:
    """Return the counters that an effect changes."""
    if isinstance(effect, Keep | Clear):
        return frozenset()
    return scopes.get(effect.scope, frozenset()) if isinstance(effect, Reset) else {effect.register}


def scopes_of(program: Program) -> Scopes:
    """Return the names of the counters that a reset of each scope changes."""
    return {scope: {member.name for member in members} for scope, members in scope_members(program.counters).items()}
