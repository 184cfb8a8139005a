"""Which transitions paths take, and how the others could be taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from compiler.analyses.possible import possible_transitions
from compiler.analyses.states import StateSpace, Taken, explore, taken_edges
from compiler.ir.edges import Edge, Origin, OutcomeTest
from compiler.ir.paths import Path, Visit
from compiler.ir.program import Node, Program, without_jumps
from compiler.ir.tasks import Branch, End


class Transition(NamedTuple):
    """What a step does after an outcome, as a reader sees it: edges that only differ in counters are one.

    `outcome` is None where counters alone decide, as at the end of a step with substeps. A default has no origins.
    """

    step: str
    outcome: str | None
    label: str
    origins: tuple[Origin, ...]


class Untaken(Struct, frozen=True):
    """A transition that none of the paths takes.

    `path` has the visits of a shortest path that takes it; None if there is no such path, or, unless the exploration
    `is_certain`, if none was found.
    """

    transition: Transition
    path: tuple[Visit, ...] | None
    is_certain: bool


class Coverage(Struct, frozen=True):
    """How many transitions the program has, and those that the paths do not take.

    A default that no path can take is none: nobody wrote it, and nobody misses it. Neither is a transition that cannot
    be taken at one place but can at another, as that of a step after some of its substeps only.
    """

    transitions: int
    untaken: tuple[Untaken, ...]


def coverage(program: Program, paths: Iterable[Path], space: StateSpace | None = None) -> Coverage:
    """Which transitions of a program these paths take; its states are explored unless they are given."""
    edges = _edges(program)
    taken = {edges[one] for path in paths for made in path.visits for one in taken_edges(made) if one in edges}
    every = dict.fromkeys(edges.values())
    begun = _passed_at_once(program)
    missing = [transition for transition in every if transition not in taken and transition.step not in begun]
    if not missing:
        return Coverage(len(every), ())
    space = space or explore(program)
    impossible = set() if space.is_complete else _impossible(program, edges)
    places: dict[Transition, int] = {}
    for one, place in space.first.items():
        if one in edges:
            places[edges[one]] = min(place, places.get(edges[one], place))
    untaken = [
        Untaken(
            item,
            space.path(places[item]) if item in places else None,
            is_certain=space.is_complete or item in impossible,
        )
        for item in missing
    ]
    fired = {origin for item in (*taken, *places) for origin in item.origins}
    known = [
        item for item in untaken if item.path or not item.is_certain or not fired.issuperset(item.transition.origins)
    ]
    return Coverage(len(every) - len(untaken) + len(known), tuple(known))


def _passed_at_once(program: Program) -> set[str]:
    """The nodes that a run can pass before its first visit, which leaves no trace of their edges."""
    nodes = program.index()
    pending, found = [program.entry], set[str]()
    while pending:
        name = pending.pop()
        if name not in found and isinstance(nodes[name].task, Branch | End):
            found.add(name)
            pending += [edge.target for edge in nodes[name].edges]
    return found


def _impossible(program: Program, edges: Mapping[Taken, Transition]) -> set[Transition]:
    """The transitions of nodes that a run can reach, but whose edges no run can take, by the values of counters."""
    transitions = possible_transitions(without_jumps(program))
    possible = {
        edges[node.id, edge]
        for node in program.nodes
        for place, edge in enumerate(node.edges)
        if (node.id, edge) in edges
        and (node.id not in transitions or any(place == one.place for one in transitions[node.id]))
    }
    return set(edges.values()) - possible


def _edges(program: Program) -> dict[Taken, Transition]:
    """The edges that belong to transitions."""
    nodes = program.index()
    decisions = _decisions(program)
    return {
        (node.id, edge): transition
        for node in program.nodes
        for edge in node.edges
        if (transition := _transition(node, edge, nodes[edge.target], decisions.get(node.id, "")))
    }


def _decisions(program: Program) -> dict[str, str]:
    """The branches where a RETRY of a step is decided (M9), each with the outcome of the step that leads there."""
    return {
        edge.target: edge.written[-1].outcome
        for node in program.nodes
        for edge in node.edges
        if edge.written and not edge.written[-1].action
    }


def _transition(node: Node, edge: Edge, target: Node, decided: str) -> Transition | None:
    """The transition that an edge belongs to; None for an edge that its author would not call one.

    An edge that nobody wrote and that leads to a branch only hands on the decision, which has edges of its own. At such
    a branch `decided` is the outcome of the step around it.
    """
    if not edge.written or (not edge.origins and isinstance(target.task, Branch)):
        return None
    if decided:
        return Transition(node.group, decided, edge.label, edge.origins)
    word = next((test.word for test in edge.guard if isinstance(test, OutcomeTest)), None)
    return Transition(node.id, word, edge.label, edge.origins)
