"""A program as a networkx graph, and what can be read off it (V12)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import networkx as nx

from compiler.ir.program import Program
from compiler.ir.tasks import End

Graph: TypeAlias = "nx.DiGraph[str]"
"""Node ids, with an arc where some edge leads."""


def to_graph(program: Program) -> Graph:
    """The control-flow graph: an arc where some edge leads, nodes and arcs in document order."""
    graph: Graph = nx.DiGraph()
    graph.add_nodes_from(node.id for node in program.nodes)
    graph.add_edges_from((node.id, edge.target) for node in program.nodes for edge in node.edges)
    return graph


def reachable(graph: Graph, program: Program) -> set[str]:
    """The nodes that some path from the entry can reach, guards left aside."""
    return {program.entry} | nx.descendants(graph, program.entry)


def with_path_out(graph: Graph, program: Program) -> set[str]:
    """The nodes from which some end of the program can be reached, guards left aside."""
    ends = [node.id for node in program.nodes if isinstance(node.task, End) and not node.edges]
    return set(nx.multi_source_dijkstra_path_length(graph.reverse(copy=False), ends)) if ends else set()


def loop_regions(graph: Graph) -> list[frozenset[str]]:
    """The strongly connected components that hold a cycle, in document order of their first nodes."""
    position = {name: index for index, name in enumerate(graph)}
    components = (frozenset(found) for found in nx.strongly_connected_components(graph))
    regions = [found for found in components if len(found) > 1 or graph.has_edge(*(tuple(found) * 2))]
    return sorted(regions, key=lambda region: min(position[name] for name in region))


def immediate_dominators(graph: Graph, program: Program) -> dict[str, str]:
    """For each reachable node but the entry the last node that every path to it passes."""
    found = nx.immediate_dominators(graph, program.entry)
    return {name: dominator for name, dominator in found.items() if name != program.entry and dominator is not None}


def ordered_components(graph: Graph, together: Iterable[frozenset[str]] = ()) -> list[list[str]]:
    """The strongly connected components in topological order, earlier nodes of the graph first where there is a choice.

    The members of each set of `together` count as connected; each has to be closed under paths between its members, or
    what lies on such a path becomes a member too.
    """
    closed = graph.copy()
    for members in together:
        nx.add_cycle(closed, sorted(members))
    position = {name: index for index, name in enumerate(graph)}
    condensed = nx.condensation(closed)
    inside = {number: sorted(names, key=position.__getitem__) for number, names in condensed.nodes(data="members")}
    order = nx.lexicographical_topological_sort(condensed, key=lambda number: position[inside[number][0]])
    return [inside[number] for number in order]


def between(graph: Graph, sources: Iterable[str], targets: Iterable[str]) -> frozenset[str]:
    """Some nodes, those of the sources that lead to them, and all on the paths from these: a set closed under paths."""
    ends = set(targets)
    backwards = graph.reverse(copy=False)
    above = _beyond(backwards, ends)
    members = ends | (above & set(sources))
    return frozenset(_beyond(graph, members) & (above | _beyond(backwards, members)))


def _beyond(graph: Graph, starts: Iterable[str]) -> set[str]:
    """Some nodes, and all that can be reached from them."""
    return {name for layer in nx.bfs_layers(graph, starts) for name in layer}
