"""Find which transitions some paths take, and how to take the others."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from compiler.analyses.enumeration import Taken, enumerate_states, taken_edges
from compiler.analyses.exploration import explore
from compiler.ir.edges import Edge, Origin, OutcomeTest
from compiler.ir.graph import reached_from
from compiler.ir.paths import Path, Visit
from compiler.ir.program import Node, Program, without_jumps
from compiler.ir.tasks import Branch, End


class Transition(NamedTuple):
    """A step's transition for an outcome, from a reader's view: edges that differ only in counters are one.

    `outcome` is None if only counters decide, as at the end of a step with substeps. A default has no origins.
    """

    step: str
    outcome: str | None
    label: str
    origins: tuple[Origin, ...]


class Untaken(Struct, frozen=True):
    """A transition that none of the paths takes.

    `path` has the visits of a shortest path that takes it, or None if there is no such path. Unless `is_certain`, None
    means that none was found.
    """

    transition: Transition
    path: tuple[Visit, ...] | None
    is_certain: bool


class Coverage(Struct, frozen=True):
    """The number of a program's transitions, and the ones that the paths don't take.

    Defaults that no path can take don't count, because no one wrote them. Transitions that are possible at another
    place don't count either, such as those of a step that only some of its substeps can lead to.
    """

    transitions: int
    untaken: tuple[Untaken, ...]


def coverage(program: Program, paths: Iterable[Path]) -> Coverage:
    """Return which of a program's transitions these paths take."""
    edges = _edges(program)
    taken = {edges[one] for path in paths for made in path.visits for one in taken_edges(made) if one in edges}
    every, begun = dict.fromkeys(edges.values()), _passed_at_once(program)
    missing = [transition for transition in every if transition not in taken and transition.step not in begun]
    if not missing:
        return Coverage(len(every), ())
    space = enumerate_states(program)
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
    """Return the nodes that a run can pass before its first visit; their edges leave no trace."""
    passed = {node.id: node.edges for node in program.nodes if isinstance(node.task, Branch | End)}
    found = reached_from([program.entry], lambda name: (edge.target for edge in passed.get(name, ())))
    return found.keys() & passed.keys()


def _impossible(program: Program, edges: Mapping[Taken, Transition]) -> set[Transition]:
    """Return the transitions of reachable nodes that no run can take, because of counters."""
    found = explore(without_jumps(program))
    possible = {(node.id, edge) for node in program.nodes for edge in found.left(node).edges}
    return set(edges.values()) - {edges[one] for one in possible & edges.keys()}


def _edges(program: Program) -> dict[Taken, Transition]:
    nodes = program.index()
    # The branches that decide a step's RETRY, with the step's outcome that leads there.
    decisions = {
        edge.target: edge.written[-1].outcome
        for node in program.nodes
        for edge in node.edges
        if edge.written and not edge.written[-1].action
    }
    return {
        (node.id, edge): transition
        for node in program.nodes
        for edge in node.edges
        if (transition := _transition(node, edge, nodes[edge.target], decisions.get(node.id, "")))
    }


def _transition(node: Node, edge: Edge, target: Node, decided: str) -> Transition | None:
    """Return the transition of an edge, or None for an edge that an author would not call a transition."""
    # A default edge to a branch only passes the decision on to the branch's own edges. `decided` is the outcome of the
    # step around such a branch.
    if not edge.written or (not edge.origins and isinstance(target.task, Branch)):
        return None
    if decided:
        return Transition(node.group, decided, edge.label, edge.origins)
    word = next((test.word for test in edge.guard if isinstance(test, OutcomeTest)), None)
    return Transition(node.id, word, edge.label, edge.origins)
