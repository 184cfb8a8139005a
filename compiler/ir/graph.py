"""A program as a control-flow graph, and what can be read off it (V12).

These are the textbook algorithms that networkx has too, which the tests hold them to: importing it takes longer than
compiling a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush

from compiler.ir.program import Program
from compiler.ir.tasks import End

Graph = Mapping[str, Mapping[str, None]]
"""For each node the nodes that some edge leads to, each once; both in document order."""


def to_graph(program: Program) -> dict[str, dict[str, None]]:
    """The control-flow graph of a program, by the ids of nodes."""
    return {node.id: {edge.target: None for edge in node.edges} for node in program.nodes}


def reachable(graph: Graph, program: Program) -> set[str]:
    """The nodes that some path from the entry can reach, guards left aside."""
    return _beyond(graph, [program.entry])


def with_path_out(graph: Graph, program: Program) -> set[str]:
    """The nodes from which some end of the program can be reached, guards left aside."""
    ends = [node.id for node in program.nodes if isinstance(node.task, End) and not node.edges]
    return _beyond(_reversed(graph), ends)


def loop_regions(graph: Graph) -> list[frozenset[str]]:
    """The strongly connected components that hold a cycle, in document order of their first nodes."""
    position = {name: index for index, name in enumerate(graph)}
    regions = [frozenset(found) for found in components(graph) if len(found) > 1 or found[0] in graph[found[0]]]
    return sorted(regions, key=lambda region: min(position[name] for name in region))


def ordered_components(graph: Graph, together: Iterable[frozenset[str]] = ()) -> list[list[str]]:
    """The strongly connected components in topological order, earlier nodes of the graph first where there is a choice.

    The members of each set of `together` count as connected; each has to be closed under paths between its members, or
    what lies on such a path becomes a member too.
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
    """For each component the other ones that its edges lead to, by number."""
    inside = {name: number for number, names in enumerate(found) for name in names}
    return [{inside[target] for name in names for target in graph[name]} - {inside[names[0]]} for names in found]


def _topological(targets: list[set[int]]) -> Iterator[int]:
    """The numbers of a graph without cycles, each before those it leads to, the smallest first (Kahn 1962)."""
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
    """The strongly connected components of a graph (Tarjan 1972), with a stack instead of his recursion."""
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
    """What stands on a stack down to a name, which is taken off."""
    found = [stack.pop()]
    while found[-1] != last:
        found.append(stack.pop())
    return found


def between(graph: Graph, sources: Iterable[str], targets: Iterable[str]) -> frozenset[str]:
    """Some nodes, those of the sources that lead to them, and all on the paths from these: a set closed under paths."""
    ends = set(targets)
    backwards = _reversed(graph)
    above = _beyond(backwards, ends)
    members = ends | (above & set(sources))
    return frozenset(_beyond(graph, members) & (above | _beyond(backwards, members)))


def _reversed(graph: Graph) -> dict[str, dict[str, None]]:
    """The graph whose edges lead the other way."""
    found: dict[str, dict[str, None]] = {name: {} for name in graph}
    for name, targets in graph.items():
        for target in targets:
            found[target][name] = None
    return found


def _beyond(graph: Graph, starts: Iterable[str]) -> set[str]:
    """Some nodes, and all that can be reached from them."""
    pending = list(starts)
    found = set(pending)
    while pending:
        following = [target for target in graph[pending.pop()] if target not in found]
        found.update(following)
        pending += following
    return found
