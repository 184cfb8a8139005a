"""A program as a networkx graph, and what can be read off it (V12)."""

from __future__ import annotations

import networkx as nx

from compiler.ir.program import End, Program


def to_graph(program: Program) -> nx.DiGraph[str]:
    """The control-flow graph: an arc where some edge leads, nodes and arcs in document order."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(node.id for node in program.nodes)
    graph.add_edges_from((node.id, edge.target) for node in program.nodes for edge in node.edges)
    return graph


def reachable(graph: nx.DiGraph[str], program: Program) -> set[str]:
    """The nodes that some walk from the entry can reach, guards left aside."""
    return {program.entry} | nx.descendants(graph, program.entry)


def with_way_out(graph: nx.DiGraph[str], program: Program) -> set[str]:
    """The nodes from which some end of the program can be reached, guards left aside."""
    ends = [node.id for node in program.nodes if isinstance(node.task, End) and not node.edges]
    return set(nx.multi_source_dijkstra_path_length(graph.reverse(copy=False), ends)) if ends else set()


def loop_regions(graph: nx.DiGraph[str]) -> list[frozenset[str]]:
    """The strongly connected components that hold a cycle, in document order of their first nodes."""
    position = {name: index for index, name in enumerate(graph)}
    components = (frozenset(found) for found in nx.strongly_connected_components(graph))
    regions = [found for found in components if len(found) > 1 or graph.has_edge(*(tuple(found) * 2))]
    return sorted(regions, key=lambda region: min(position[name] for name in region))


def immediate_dominators(graph: nx.DiGraph[str], program: Program) -> dict[str, str]:
    """For each reachable node but the entry the last node that every walk to it passes."""
    found = nx.immediate_dominators(graph, program.entry)
    return {name: dominator for name, dominator in found.items() if name != program.entry and dominator is not None}
