"""Enumerate all paths of a program, shortest first, up to a bound.

The search is iterative deepening with a lower bound (IDA*). It finds the paths of each length depth first, and skips
every prefix that is too far from an end. It only needs memory for one path. The bound is exact if the program's states
could be explored; otherwise it ignores guards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from msgspec import Struct

from compiler.analyses.outcomes import beginnings, has_few_beginnings, outcomes_by_node
from compiler.analyses.states import StateSpace, cost, enumerate_states
from compiler.ir.graph import distances_to, to_graph
from compiler.ir.paths import LIMIT, Path, Visit, visit
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, State
from compiler.ir.tasks import Branch, End

EFFORT = 1_000_000
"""The most edges to look at, and counters to copy, before the search gives up."""


Inputs = tuple[tuple[str, str], ...]
"""The inputs at the start of a run; others have their defaults."""


class Enumeration(Struct, frozen=True):
    """The paths that were found; `is_complete` is true if no others end."""

    paths: tuple[Path, ...]
    is_complete: bool


def enumerate_paths(program: Program, most: int, limit: int = LIMIT, space: StateSpace | None = None) -> Enumeration:
    """Return up to `most` distinct paths that end, each with up to `limit` visits.

    The program's states are explored unless they are given.
    """
    search = _Search(program, limit, space or enumerate_states(program))
    paths: list[Path] = []
    for found in search.paths():
        if len(paths) == most:
            return Enumeration(tuple(paths), is_complete=False)
        paths.append(found)
    return Enumeration(tuple(paths), search.is_exhausted)


class _Search:
    """One enumeration; after the last path, `is_exhausted` is true if nothing was left out."""

    def __init__(self, program: Program, limit: int, space: StateSpace) -> None:
        self.machine = Machine(program)
        self.outcomes, has_all_outcomes = outcomes_by_node(program)
        self.tries_all = has_all_outcomes and has_few_beginnings(program)
        self.starts = {space.view.of(start): (given, start) for given, start in _beginnings(self.machine)}
        self.distance = _exact(space) if space.is_complete else _least(program)
        self.limit = limit
        self.effort = EFFORT
        self.is_exhausted = False
        self._next = 0
        self._is_cut = False

    def paths(self) -> Iterator[Path]:
        """Yield the paths by length, and paths of the same length in the order of their outcomes."""
        near = [
            (found, given, start)
            for given, start in self.starts.values()
            if (found := self.distance(start)) is not None
        ]
        if not near:
            self.is_exhausted = self.tries_all
            return
        length = min(found for found, _, _ in near)
        while length <= self.limit:
            self._next, self._is_cut = self.limit + 1, False
            for found, given, start in near:
                if found <= length:
                    yield from self._of_length(start, given, length)
                elif found <= self.limit:
                    self._next = min(self._next, found)
                else:
                    self._is_cut = True
                if self.effort <= 0:
                    return
            if self._next > self.limit:
                break
            length = self._next
        self.is_exhausted = self._next > self.limit and not self._is_cut and self.tries_all

    def _of_length(self, start: State, inputs: Inputs, length: int) -> Iterator[Path]:
        pending: list[tuple[int, Visit | None, State]] = [(0, None, start)]
        visits: list[Visit] = []
        while pending and self.effort > 0:
            depth, made, state = pending.pop()
            del visits[max(depth - 1, 0) :]
            if made:
                visits.append(made)
            if self.machine.end(state):
                if depth == length:
                    yield Path(tuple(visits), state, inputs=inputs)
                continue
            pending += reversed(list(self._onward(state, depth, length)))

    def _onward(self, state: State, depth: int, length: int) -> Iterator[tuple[int, Visit, State]]:
        for outcome in self.outcomes[state.node]:
            made, after = visit(self.machine, state, outcome)
            self.effort -= cost(self.machine, made, after)
            onward = self.distance(after)
            if onward is None:
                continue
            least = depth + 1 + onward
            if least <= length:
                yield depth + 1, made, after
            elif least <= self.limit:
                self._next = min(self._next, least)
            else:
                self._is_cut = True


def _beginnings(machine: Machine) -> Iterator[tuple[Inputs, State]]:
    """Yield the starting states with their inputs; for equal states, the one with the fewest inputs comes last."""
    for given in reversed(list(beginnings(machine.program))):
        yield tuple(given.items()), machine.start(given)


Distance = Callable[[State], int | None]
"""Returns the fewest visits from a state to an end, or None if no end is reachable."""


def _exact(space: StateSpace) -> Distance:
    return lambda state: space.distances.get(space.view.of(state))


def _least(program: Program) -> Distance:
    """Return the distance in the graph, ignoring guards."""
    ends = (node.id for node in program.nodes if isinstance(node.task, End) and not node.edges)
    nodes = program.index()
    found = distances_to(to_graph(program), ends, lambda name: not isinstance(nodes[name].task, Branch | End))
    if program.limit is None:
        return lambda state: found.get(state.node)
    return partial(_with_limit, found, program.limit)


def _with_limit(found: Mapping[str, int], limit: int, state: State) -> int:
    """Return the distance if a limit of steps ends every run (I24)."""
    left = max(0, limit - state.done)
    return min(found.get(state.node, left), left)
