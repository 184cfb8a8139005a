"""Paths: runs of a program by its semantics, written down visit by visit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from compiler.ir.edges import Edge
from compiler.ir.program import Node, Program
from compiler.ir.semantics import Machine, Outcome, State

NO_INPUTS: Mapping[str, str] = MappingProxyType({})

LIMIT = 1000
"""In visits: where a path is cut off that does not end, unless the program has more steps."""


def usual_limit(program: Program) -> int:
    """Where a path of a program is cut off if nothing else is said."""
    return max(LIMIT, len(program.nodes))


class Visit(Struct, frozen=True):
    """One attempt at a step: where it was, its outcome, the edges that were taken because of it, its title as shown."""

    step: str
    attempt: int
    instances: tuple[tuple[str, int], ...]
    outcome: Outcome
    edges: tuple[Edge, ...]
    title: str = ""

    @property
    def taken(self) -> str:
        """The transitions that were taken, as their authors wrote them: `GOTO 4`, or `CONTINUE, 1 FAIL: STOP`."""
        return ", ".join(edge.label for edge in self.edges if edge.label)


class Path(Struct, frozen=True):
    """The visits of a run, and the state that they led to: an end, or where no outcome was to be had.

    `jumps` are those of the operator: the number of visits before each, and the step that it led to. `inputs` are those
    that the run began with.
    """

    visits: tuple[Visit, ...]
    state: State
    jumps: tuple[tuple[int, str], ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()


Decide = Callable[[Node, State], Outcome | None]
"""Gives the outcome of a step in a state; None where there is none, which leaves the run there."""


def visit(machine: Machine, state: State, outcome: Outcome) -> tuple[Visit, State]:
    """One attempt at the step that a state stands at, and the state that follows."""
    node = machine.nodes[state.node]
    move = machine.advance(state, outcome)
    title = machine.text(state, node.title)
    return Visit(node.id, machine.attempt(state), machine.instances(state), outcome, move.edges, title), move.state


def walk(machine: Machine, decide: Decide, limit: int = LIMIT, inputs: Mapping[str, str] = NO_INPUTS) -> Path:
    """The path from the start to an end, to where there is no outcome, or to the limit in visits."""
    state = machine.start(inputs)
    visits: list[Visit] = []
    while len(visits) < limit and machine.end(state) is None:
        outcome = decide(machine.nodes[state.node], state)
        if outcome is None:
            break
        made, state = visit(machine, state, outcome)
        visits.append(made)
    return Path(tuple(visits), state, inputs=tuple(inputs.items()))
