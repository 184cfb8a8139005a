"""The control-flow graph of a program, and its properties (V12): a thin layer over networkx.

A graph whose edges all lead to later nodes has no loop. Such a graph, which most documents have, needs no networkx,
whose import takes longer than a check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from compiler.ir.program import Program
from compiler.ir.tasks import End

if TYPE_CHECKING:
    import networkx as nx

Graph = Mapping[str, Mapping[str, None]]
"""For each node the targets of its edges, without duplicates. Both are in document order."""


def to_graph(program: Program) -> dict[str, dict[str, None]]:
    """Return the control-flow graph of a program, by node ids."""
    return {node.id: {edge.target: None for edge in node.edges} for node in program.nodes}


def reachable(graph: Graph, program: Program) -> set[str]:
    """Return the nodes that a path from the entry can reach, ignoring guards."""
    return _beyond(graph, [program.entry])


def with_path_out(graph: Graph, program: Program) -> set[str]:
    """Return the nodes with a path to an end of the program, ignoring guards."""
    ends = [node.id for node in program.nodes if isinstance(node.task, End) and not node.edges]
    return _beyond(_reversed(graph), ends)


def loop_regions(graph: Graph) -> list[frozenset[str]]:
    """Return the strongly connected components with a cycle, in document order of their first nodes."""
    position = {name: index for index, name in enumerate(graph)}
    if _is_forward(graph, position):
        return []
    regions = [frozenset(found) for found in components(graph) if len(found) > 1 or _repeats(graph, found)]
    return sorted(regions, key=lambda region: min(position[name] for name in region))


def _is_forward(graph: Graph, position: Mapping[str, int]) -> bool:
    return all(position[target] > position[name] for name, targets in graph.items() for target in targets)


def _repeats(graph: Graph, found: Iterable[str]) -> bool:
    return any(name in graph[name] for name in found)


def components(graph: Graph) -> Iterator[set[str]]:
    """Yield the strongly connected components of a graph."""
    import networkx as nx  # noqa: PLC0415 (only for graphs with loops)

    return nx.strongly_connected_components(_directed(graph))


def ordered_components(graph: Graph, together: Iterable[frozenset[str]] = ()) -> list[list[str]]:
    """Return the strongly connected components in topological order, otherwise in document order.

    The members of each set in `together` count as connected. Nodes on paths between its members become members too.
    """
    position = {name: index for index, name in enumerate(graph)}
    groups = list(together)
    if not groups and _is_forward(graph, position):
        return [[name] for name in graph]
    import networkx as nx  # noqa: PLC0415 (only for graphs with loops)

    closed = _directed(graph)
    for members in groups:
        nx.add_cycle(closed, sorted(members))
    condensed = nx.condensation(closed)
    inside = [sorted(condensed.nodes[number]["members"], key=position.__getitem__) for number in condensed]
    order = nx.lexicographical_topological_sort(condensed, key=lambda number: position[inside[number][0]])
    return [inside[number] for number in order]


def _directed(graph: Graph) -> nx.DiGraph[str]:
    import networkx as nx  # noqa: PLC0415 (only for graphs with loops)

    found: nx.DiGraph[str] = nx.DiGraph()
    found.add_nodes_from(graph)
    found.add_edges_from((name, target) for name, targets in graph.items() for target in targets)
    return found


def between(graph: Graph, sources: Iterable[str], targets: Iterable[str]) -> frozenset[str]:
    """Return the targets, the sources that lead to them, and all nodes on paths between these."""
    ends = set(targets)
    backwards = _reversed(graph)
    above = _beyond(backwards, ends)
    members = ends | (above & set(sources))
    return frozenset(_beyond(graph, members) & (above | _beyond(backwards, members)))


def _reversed(graph: Graph) -> dict[str, dict[str, None]]:
    found: dict[str, dict[str, None]] = {name: {} for name in graph}
    for name, targets in graph.items():
        for target in targets:
            found[target][name] = None
    return found


def _beyond(graph: Graph, starts: Iterable[str]) -> set[str]:
    """Return the start nodes and all nodes that they can reach."""
    pending = list(starts)
    found = set(pending)
    while pending:
        following = [target for target in graph[pending.pop()] if target not in found]
        found.update(following)
        pending += following
    return found
