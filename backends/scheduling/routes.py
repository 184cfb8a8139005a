"""The possible paths from each place of a called program. The exits of a place have names.

A step reports the name of the run's current node. Only the program knows counters and slots, so no condition compares
strings from people or agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from backends.scheduling.places import Place, find_places
from compiler.ir.graph import reached_from
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, End, Gate


class Routes(Struct, frozen=True):
    """A program as places in the order of their steps.

    `exits` has the nodes outside of each place where a run may be next. `start` has the nodes where it may start.
    `home` has the place of each node that is not a branch.
    """

    program: Program
    places: tuple[Place, ...]
    start: frozenset[str]
    exits: Mapping[str, frozenset[str]]
    home: Mapping[str, Place]
    nodes: Mapping[str, Node]

    def may_ask(self, node: Node) -> bool:
        """Return whether a node asks. A gate outside of loops is a job that waits for an approval instead."""
        return isinstance(node.task, Ask) or (isinstance(node.task, Gate) and self.home[node.id].kind == "loop")

    def beyond(self, names: Iterable[str]) -> frozenset[str]:
        """Return the nodes at which a run may stop after it has reached others."""
        return _settled(self.nodes, names)

    def leading(self) -> dict[str, list[str]]:
        """Return the places that may lead to each node."""
        found: dict[str, list[str]] = {}
        for place in self.places:
            for name in self.exits[place.name]:
                found.setdefault(name, []).append(place.name)
        return found


def make_routes(program: Program) -> Routes:
    """Return the routes of a program."""
    index = program.index()
    places = tuple(place for place in find_places(program, repeats=False) if place.kind != "branch")
    exits = {}
    for place in places:
        own = {node.id for node in place.nodes}
        exits[place.name] = _settled(index, set().union(*map(_targets, place.nodes)) - own) - own
    home = {node.id: place for place in places for node in place.nodes}
    return Routes(program, places, _settled(index, [program.entry]), exits, home, index)


def _settled(index: Mapping[str, Node], names: Iterable[str]) -> frozenset[str]:
    """Return the nodes that a run may be at after some nodes, beyond branches and nested ends."""
    found = reached_from(names, lambda name: _targets(index[name]) if index[name].is_passed else ())
    return frozenset(name for name in found if not index[name].is_passed)


def _targets(node: Node) -> set[str]:
    return {edge.target for edge in node.edges}


def ahead_of(found: AbstractSet[str], nodes: Mapping[str, Node]) -> set[str]:
    """Return the nodes at which a run is not over by STOP."""
    return {name for name in found if not is_stop(nodes[name])}


def is_stop(node: Node) -> bool:
    """Return whether a run is over by STOP at a node."""
    task = node.task
    return isinstance(task, End) and not node.edges and task.result == "stop"
