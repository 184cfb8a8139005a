"""Enumerate all paths of a program, shortest first, up to a bound (`rdc trace`).

First, the states of a program are enumerated breadth first, each once. States that no guard can distinguish count as
one. They differ only in counters that no guard reads, or in how far a counter is beyond every number it is compared
with. So even a program that counts without end can have few states.

The search for paths is iterative deepening with a lower bound (IDA*). It finds the paths of each length depth first,
and skips every prefix that is too far from an end. It only needs memory for one path. The bound is exact if all states
are known; otherwise it ignores guards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import inf

from msgspec import Struct, field

from compiler.analyses.domains import beginnings, distinguished, has_few_beginnings, may_fall, outcomes_by_node
from compiler.ir.edges import CounterTest, Edge, feeding
from compiler.ir.graph import distances, reached_from
from compiler.ir.paths import LIMIT, Path, Visit, visit
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.tasks import IDLE

EFFORT = 1_000_000
"""The most edges to look at, and changed counters to copy, before the search for states or for paths gives up."""

Key = tuple[object, ...]
"""The parts of a state that guards can distinguish."""

Taken = tuple[str, Edge]
"""An edge with the node that it leaves."""


def taken_edges(made: Visit) -> Iterator[Taken]:
    """Yield the edges that a visit took, each with the node that it leaves."""
    names = (made.step, *(edge.target for edge in made.edges))
    yield from zip(names, made.edges, strict=False)


def cost(machine: Machine, made: Visit, after: State) -> int:
    """Return the cost of a visit in time and memory: the edges it chose from, and the counters it copied."""
    return sum(len(machine.nodes[name].edges) for name, _ in taken_edges(made)) + len(after.counters.changed)


class StateSpace(Struct):
    """The states of a program; `is_complete` is true if none is missing.

    `outcomes` are those to try at each node. `tries_all` is true if they and the inputs at the start are all that tests
    distinguish.
    """

    machine: Machine
    view: View
    outcomes: Mapping[str, Sequence[Outcome]]
    tries_all: bool
    is_complete: bool = True
    steps: list[tuple[int, Visit | None]] = field(default_factory=list)
    """For each visit with a new state or edge, the index of the visit before it; the first entry is the start."""
    first: dict[Taken, int] = field(default_factory=dict)
    """The index of the first visit that took an edge."""
    distances: dict[Key, int] = field(default_factory=dict)
    """The fewest visits to an end, for each state that can reach one."""

    def path(self, place: int) -> tuple[Visit, ...]:
        """Return the visits of a shortest path to one of these steps."""
        visits: list[Visit] = []
        while (step := self.steps[place])[1]:
            place = step[0]
            visits.append(step[1])
        return tuple(reversed(visits))


def enumerate_states(program: Program) -> StateSpace:
    """Return the states of a program, as far as the effort allows. They are enumerated once."""
    if "states" not in program.analyses:
        outcomes, has_all_outcomes = outcomes_by_node(program)
        tries_all = has_all_outcomes and has_few_beginnings(program)
        space = StateSpace(Machine(program), View(program), outcomes, tries_all)
        _find_states(program, space)
        program.analyses["states"] = space
    found: StateSpace = program.analyses["states"]
    return found


def _find_states(program: Program, space: StateSpace) -> None:
    machine = space.machine
    starts = {space.view.of(start): start for start in map(machine.start, beginnings(program))}
    before: dict[Key, list[Key]] = {key: [] for key in starts}
    ends: list[Key] = []
    pending = deque((start, 0) for start in starts.values())
    space.steps.append((0, None))
    effort = EFFORT
    while pending and effort > 0:
        state, place = pending.popleft()
        key = space.view.of(state)
        if machine.end(state):
            ends.append(key)
            continue
        for outcome in space.outcomes[state.node]:
            made, after = visit(machine, state, outcome)
            effort -= cost(machine, made, after)
            new = [taken for taken in taken_edges(made) if taken not in space.first]
            is_known = space.view.of(after) in before
            before.setdefault(space.view.of(after), []).append(key)
            if is_known and not new:
                continue
            space.steps.append((place, made))
            space.first |= dict.fromkeys(new, len(space.steps) - 1)
            if not is_known:
                pending.append((after, len(space.steps) - 1))
    space.is_complete = not pending and space.tries_all
    space.distances = _distances(before, ends)


def _distances(before: dict[Key, list[Key]], ends: list[Key]) -> dict[Key, int]:
    found = dict.fromkeys(ends, 0)
    pending = deque(ends)
    while pending:
        key = pending.popleft()
        for earlier in before[key]:
            if earlier not in found:
                found[earlier] = found[key] + 1
                pending.append(earlier)
    return found


class View:
    """A view of a program's states with only the parts that guards can distinguish."""

    def __init__(self, program: Program) -> None:
        edges = [edge for node in program.nodes for edge in node.edges]
        tests = [test for edge in edges for test in edge.guard if isinstance(test, CounterTest)]
        feeds = feeding(edge.effects for edge in edges)
        self.read = reached_from((test.register for test in tests), lambda name: feeds.get(name, ())).keys()
        self.distinguished = distinguished(program)
        self.most = inf if may_fall(program) else max((test.value for test in tests), default=0) + 1

    def of(self, state: State) -> Key:
        """Return the key of a state; counters that only rise or reset are equal beyond `most`."""
        changed = state.counters.changed.items()
        seen = frozenset((name, min(value, self.most)) for name, value in changed if name in self.read)
        slots = ((state.slots[slot] or "", texts) for slot, texts in self.distinguished.items())
        strings = [text if text in texts else texts[-1] for text, texts in slots]
        return (state.node, state.done, seen, *strings)


Inputs = tuple[tuple[str, str], ...]
"""The inputs at the start of a run; others have their defaults."""


class Enumeration(Struct, frozen=True):
    """The paths that were found; `is_complete` is true if no others end."""

    paths: tuple[Path, ...]
    is_complete: bool


def enumerate_paths(program: Program, most: int, limit: int = LIMIT) -> Enumeration:
    """Return up to `most` distinct paths that end, each with up to `limit` visits."""
    search = _Search(program, limit, enumerate_states(program))
    paths: list[Path] = []
    for found in search.paths():
        if len(paths) == most:
            return Enumeration(tuple(paths), is_complete=False)
        paths.append(found)
    return Enumeration(tuple(paths), search.is_exhausted)


class _Search:
    """One enumeration; after the last path, `is_exhausted` is true if nothing was left out."""

    def __init__(self, program: Program, limit: int, space: StateSpace) -> None:
        self.machine, self.outcomes, self.tries_all = space.machine, space.outcomes, space.tries_all
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
    nodes = program.index()
    found = distances(program, lambda name: type(nodes[name].task) not in IDLE)
    if program.limit is None:
        return lambda state: found.get(state.node)
    return partial(_with_limit, found, program.limit)


def _with_limit(found: Mapping[str, int], limit: int, state: State) -> int:
    """Return the distance if a limit of steps ends every run (I24)."""
    left = max(0, limit - state.done)
    return min(found.get(state.node, left), left)
