"""Which transitions walks take, and how the others could be taken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from compiler.analyses.states import StateSpace, Taken, explore, taken_edges
from compiler.ir.program import Branch, Edge, Node, Origin, OutcomeTest, Program, Verdict
from compiler.ir.walks import Visit, Walk


class Transition(NamedTuple):
    """What a unit does after an outcome, as a reader sees it: edges that only differ in counters are one.

    `outcome` is None where counters alone decide, as at the end of a step with substeps. A default has no origins.
    """

    unit: str
    outcome: Verdict | None
    label: str
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class Untaken:
    """A transition that none of the walks takes.

    `way` has the visits of a shortest walk that takes it; None if there is no such walk, or, unless the exploration
    `is_certain`, if none was found.
    """

    transition: Transition
    way: tuple[Visit, ...] | None
    is_certain: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many transitions the program has, and those that the walks do not take.

    A default that no walk can take is none: nobody wrote it, and nobody misses it.
    """

    transitions: int
    untaken: tuple[Untaken, ...]


def coverage(program: Program, walks: Iterable[Walk], space: StateSpace | None = None) -> Coverage:
    """Which transitions of a program these walks take; its states are explored unless they are given."""
    edges = _edges(program)
    taken = {edges[one] for walk in walks for made in walk.visits for one in taken_edges(made) if one in edges}
    every = dict.fromkeys(edges.values())
    missing = [transition for transition in every if transition not in taken]
    if not missing:
        return Coverage(len(every), ())
    space = space or explore(program)
    places: dict[Transition, int] = {}
    for one, place in space.first.items():
        if one in edges:
            places[edges[one]] = min(place, places.get(edges[one], place))
    untaken = [
        Untaken(item, space.way(places[item]) if item in places else None, space.is_complete) for item in missing
    ]
    known = [item for item in untaken if item.transition.origins or item.way is not None or not item.is_certain]
    return Coverage(len(every) - len(untaken) + len(known), tuple(known))


def _edges(program: Program) -> dict[Taken, Transition]:
    """The edges that belong to transitions."""
    nodes = program.index()
    return {
        (node.id, edge): transition
        for node in program.nodes
        for edge in node.edges
        if (transition := _transition(node, edge, nodes[edge.target]))
    }


def _transition(node: Node, edge: Edge, target: Node) -> Transition | None:
    """The transition that an edge belongs to; None for an edge that its author would not call one.

    An edge that nobody wrote and that leads to a branch only hands on the decision, which has edges of its own.
    """
    if not edge.label or (not edge.origins and isinstance(target.task, Branch)):
        return None
    verdict = next((test.verdict for test in edge.guard if isinstance(test, OutcomeTest)), None)
    unit, _, decided = node.id.rpartition("/")
    if isinstance(node.task, Branch) and decided in Verdict.__members__:  # where the RETRY of a step is decided (M9)
        return Transition(unit, Verdict[decided], edge.label, edge.origins)
    return Transition(node.id, verdict, edge.label, edge.origins)
