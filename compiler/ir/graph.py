"""The control-flow graph of a program, and its properties: a thin layer over networkx.

A graph without loops, which most documents have, needs no networkx, whose import takes longer than a check. If all
edges lead to later nodes, as in most of these, that is seen at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, TypeVar

from compiler.ir.program import Program

if TYPE_CHECKING:
    import networkx as nx

Place = TypeVar("Place", bound=Hashable)

Graph = Mapping[str, Mapping[str, None]]
"""For each node the targets of its edges, without duplicates. Both are in document order."""


def to_graph(program: Program) -> dict[str, dict[str, None]]:
    """Return the control-flow graph of a program, by node ids."""
    return {node.id: {edge.target: None for edge in node.edges} for node in program.nodes}


def reached_from(starts: Iterable[Place], onward: Callable[[Place], Iterable[Place]]) -> dict[Place, None]:
    """Return the starts and everything that they lead to, breadth first."""
    found = dict.fromkeys(starts)
    pending = deque(found)
    while pending:
        for name in onward(pending.popleft()):
            if name not in found:
                found[name] = None
                pending.append(name)
    return found


def led_to(program: Program, starts: Iterable[str]) -> dict[str, None]:
    """Return the nodes that paths from some nodes can reach, and these nodes, ignoring guards."""
    index = program.index()
    return reached_from(starts, lambda name: (edge.target for edge in index[name].edges))


def with_path_out(program: Program) -> dict[str, None]:
    """Return the nodes with a path to an end of the program, ignoring guards."""
    return reached_from(ends(program), _reversed(to_graph(program)).__getitem__)


def ends(program: Program) -> Iterator[str]:
    """Yield the nodes where a run is over."""
    return (node.id for node in program.nodes if node.is_end)


def loop_regions(graph: Graph) -> list[frozenset[str]]:
    """Return the strongly connected components with a cycle, in document order of their first nodes."""
    position = {name: index for index, name in enumerate(graph)}
    if _is_forward(graph, position) or not _has_loop(graph):
        return []
    import networkx as nx  # noqa: PLC0415 (only for graphs with loops)

    components = map(frozenset, nx.strongly_connected_components(_directed(graph)))
    regions = [found for found in components if len(found) > 1 or any(name in graph[name] for name in found)]
    return sorted(regions, key=lambda region: min(position[name] for name in region))


def cycle_in(graph: Graph, region: frozenset[str]) -> list[str]:
    """Return the nodes of one cycle inside a region, in order."""
    import networkx as nx  # noqa: PLC0415 (only for graphs with loops)

    return [edge[0] for edge in nx.find_cycle(_directed(graph).subgraph(region), min(region))]


def distances(program: Program, cost: Callable[[str], int]) -> dict[str, int]:
    """Return the least cost of the nodes before an end of the program, for each node that can reach one."""
    import networkx as nx  # noqa: PLC0415 (only for `rdc trace`)

    backwards = _directed(_reversed(to_graph(program)))
    sources = set(ends(program))
    if not sources:
        return {}
    found = nx.multi_source_dijkstra_path_length(backwards, sources, weight=lambda _, earlier, __: cost(earlier))
    return {name: int(least) for name, least in found.items()}


def _has_loop(graph: Graph) -> bool:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def _is_forward(graph: Graph, position: Mapping[str, int]) -> bool:
    return all(position[target] > position[name] for name, targets in graph.items() for target in targets)


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
    backwards = _reversed(graph).__getitem__
    above = reached_from(ends, backwards).keys()
    members = ends | (above & set(sources))
    return frozenset(reached_from(members, graph.__getitem__).keys() & (above | reached_from(members, backwards)))


def on_the_way(start: Place, goal: Place, onward: Callable[[Place], Iterable[Place]]) -> frozenset[Place]:
    """Return the places on paths from a start to a goal, without the goal. Without a path, there is no place."""
    graph: dict[Place, tuple[Place, ...]] = {}

    def remembered(place: Place) -> tuple[Place, ...]:
        graph[place] = found = () if place == goal else tuple(onward(place))
        return found

    if goal not in reached_from([start], remembered):  # the usual case
        return frozenset()
    import networkx as nx  # noqa: PLC0415 (only for a goal that is reached)

    return frozenset(nx.ancestors(nx.DiGraph(graph), goal))


def _reversed(graph: Graph) -> dict[str, dict[str, None]]:
    found: dict[str, dict[str, None]] = {name: {} for name in graph}
    for name, targets in graph.items():
        for target in targets:
            found[target][name] = None
    return found
