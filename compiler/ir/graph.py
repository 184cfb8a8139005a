"""The control-flow graph of a program, and its properties (V12).

The algorithms are also in networkx, but importing it takes longer than compiling a document. The tests compare both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush

from compiler.ir.program import Program
from compiler.ir.tasks import End

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
    regions = [frozenset(found) for found in components(graph) if len(found) > 1 or found[0] in graph[found[0]]]
    return sorted(regions, key=lambda region: min(position[name] for name in region))


def ordered_components(graph: Graph, together: Iterable[frozenset[str]] = ()) -> list[list[str]]:
    """Return the strongly connected components in topological order, otherwise in document order.

    The members of each set in `together` count as connected. Nodes on paths between its members become members too.
    """
    closed = {name: dict(targets) for name, targets in graph.items()}
    for members in together:
        ring = sorted(members)
        for name, following in zip(ring, [*ring[1:], ring[0]], strict=True):
            closed[name][following] = None
    position = {name: index for index, name in enumerate(graph)}
    found = [sorted(names, key=position.__getitem__) for names in components(closed)]
    found.sort(key=lambda names: position[names[0]])
    return [found[number] for number in _topological(_condensed(closed, found))]


def _condensed(graph: Graph, found: list[list[str]]) -> list[set[int]]:
    """Return the targets of each component, by number."""
    inside = {name: number for number, names in enumerate(found) for name in names}
    return [{inside[target] for name in names for target in graph[name]} - {inside[names[0]]} for names in found]


def _topological(targets: list[set[int]]) -> Iterator[int]:
    """Yield the numbers of an acyclic graph in topological order, smallest first (Kahn 1962)."""
    entering = [0] * len(targets)
    for number in (number for each in targets for number in each):
        entering[number] += 1
    free = [number for number, count in enumerate(entering) if not count]
    heapify(free)
    while free:
        number = heappop(free)
        yield number
        for target in targets[number]:
            entering[target] -= 1
            if not entering[target]:
                heappush(free, target)


def components(graph: Graph) -> Iterator[list[str]]:
    """Yield the strongly connected components of a graph (Tarjan 1972), without recursion."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    done: set[str] = set()
    for root in graph:
        path = [] if root in order else [(root, iter(graph[root]))]
        while path:
            name, targets = path[-1]
            if name not in order:
                order[name] = lowest[name] = len(order)
                stack.append(name)
            for target in targets:
                if target not in order:
                    path.append((target, iter(graph[target])))
                    break
            else:
                path.pop()
                for target in graph[name]:
                    if lowest[target] < lowest[name] and target not in done:
                        lowest[name] = lowest[target]
                if lowest[name] == order[name]:
                    found = _popped(stack, name)
                    done.update(found)
                    yield found


def _popped(stack: list[str], last: str) -> list[str]:
    """Pop a stack down to a name, and return the popped names."""
    found = [stack.pop()]
    while found[-1] != last:
        found.append(stack.pop())
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
