"""Paths: runs of a program, recorded visit by visit."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from compiler.ir.edges import Edge
from compiler.ir.program import Node, Program
from compiler.ir.semantics import Machine, Outcome, State

NO_INPUTS: Mapping[str, str] = MappingProxyType({})

LIMIT = 1000  # in visits; longer paths are truncated, unless the program has more steps


def usual_limit(program: Program) -> int:
    """Return the default limit of a path, in visits."""
    return max(LIMIT, len(program.nodes))


class Visit(Struct, frozen=True):
    """One attempt at a step: its outcome, and the edges that were taken after it."""

    step: str
    attempt: int
    instances: tuple[tuple[str, int], ...]
    outcome: Outcome
    edges: tuple[Edge, ...]
    title: str = ""

    @property
    def taken(self) -> str:
        """The labels of the transitions taken, such as `GOTO 4` or `CONTINUE, 1 FAIL: STOP`."""
        return ", ".join(edge.label for edge in self.edges if edge.label)


class Path(Struct, frozen=True):
    """The visits of a run and its last state, which is an end or a step without an outcome.

    `jumps` are the operator's jumps: the number of visits before each, and its step. `inputs` are the initial inputs.
    """

    visits: tuple[Visit, ...]
    state: State
    jumps: tuple[tuple[int, str], ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()


Decide = Callable[[Node, State], Outcome | None]
"""Returns the outcome of a step in a state, or None to leave the run there."""


def visit(machine: Machine, state: State, outcome: Outcome) -> tuple[Visit, State]:
    """Return one attempt at a state's step, and the next state."""
    node = machine.nodes[state.node]
    move = machine.advance(state, outcome)
    title = machine.text(state, node.title)
    return Visit(node.id, machine.attempt(state), machine.instances(state), outcome, move.edges, title), move.state


def walk(machine: Machine, decide: Decide, limit: int = LIMIT, inputs: Mapping[str, str] = NO_INPUTS) -> Path:
    """Return the path from the start to an end, to a step without an outcome, or to the limit in visits."""
    state = machine.start(inputs)
    visits: list[Visit] = []
    while len(visits) < limit and machine.end(state) is None:
        outcome = decide(machine.nodes[state.node], state)
        if outcome is None:
            break
        made, state = visit(machine, state, outcome)
        visits.append(made)
    return Path(tuple(visits), state, inputs=tuple(inputs.items()))
