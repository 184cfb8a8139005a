"""Where a run may go from each place of a program that is walked elsewhere: each place has exits, which have names.

A step says by the name of a node where the run is now. Counters and texts are known to the program only, so that no
condition compares what a person or an agent has written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property

from msgspec import Struct

from backends.scheduling.places import Place, find_places
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Branch, End, Gate


class Routes(Struct, frozen=True, dict=True):
    """A program as places in the order of their steps.

    `exits` has for each place the nodes outside of it where a run may be next, `start` those where it may begin;
    `home` has the place of each node that is no branch.
    """

    program: Program
    places: tuple[Place, ...]
    start: frozenset[str]
    exits: Mapping[str, frozenset[str]]
    home: Mapping[str, Place]
    nodes: Mapping[str, Node]

    @cached_property
    def entering(self) -> dict[str, list[Node]]:
        """For each node those with an edge to it."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            for target in dict.fromkeys(edge.target for edge in node.edges):
                found.setdefault(target, []).append(node)
        return found

    def may_ask(self, node: Node) -> bool:
        """Whether a node asks; a gate outside of loops is a job that waits for an approval instead."""
        return isinstance(node.task, Ask) or (isinstance(node.task, Gate) and self.home[node.id].kind == "loop")

    def beyond(self, names: Iterable[str]) -> frozenset[str]:
        """The nodes at which a run can be once it has come to some others."""
        return _Settled(self.nodes).of(names)

    def leading(self) -> dict[str, list[str]]:
        """For each node the places that may lead to it."""
        found: dict[str, list[str]] = {}
        for place in self.places:
            for name in self.exits[place.name]:
                found.setdefault(name, []).append(place.name)
        return found


def make_routes(program: Program, *, asks: bool = False) -> Routes:
    """The routes of a program; with `asks` jobs repeat a question, so that one that is put again is no loop."""
    index = program.index()
    places = tuple(place for place in find_places(program, repeats=False, asks=asks) if place.kind != "branch")
    settled = _Settled(index)
    exits = {}
    for place in places:
        own = {node.id for node in place.nodes}
        targets = {edge.target for node in place.nodes for edge in node.edges}
        exits[place.name] = frozenset(settled.of(targets - own)) - own
    home = {node.id: place for place in places for node in place.nodes}
    return Routes(program, places, settled.of({program.entry}), exits, home, index)


class _Settled:
    """Where a run is once it has passed through branches and ends of nested documents."""

    def __init__(self, index: Mapping[str, Node]) -> None:
        self._index = index

    def of(self, names: Iterable[str]) -> frozenset[str]:
        """The nodes at which a run can be to which some nodes lead."""
        found: set[str] = set()
        seen: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            node = self._index[name]
            if is_passed(node):
                pending += [edge.target for edge in node.edges]
            else:
                found.add(name)
        return frozenset(found)


def is_passed(node: Node) -> bool:
    """Whether a run goes on through a node: a branch, or the end of a nested document (M8)."""
    return isinstance(node.task, Branch) or (isinstance(node.task, End) and bool(node.edges))


def is_end(node: Node) -> bool:
    """Whether a run is over at a node."""
    return isinstance(node.task, End) and not node.edges


def ahead_of(found: AbstractSet[str], nodes: Mapping[str, Node]) -> set[str]:
    """Those of some nodes at which a run is not over by STOP."""
    return {name for name in found if not is_stop(nodes[name])}


def is_stop(node: Node) -> bool:
    """Whether a run is over by STOP at a node."""
    task = node.task
    return is_end(node) and isinstance(task, End) and task.result == "stop"
