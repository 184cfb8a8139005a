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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import NamedTuple

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
    yield from zip((made.step, *(edge.target for edge in made.edges)), made.edges, strict=False)


def cost(machine: Machine, made: Visit, after: State) -> int:
    """Return the cost of a visit in time and memory: the edges it chose from, and the counters it copied."""
    return sum(len(machine.nodes[name].edges) for name, _ in taken_edges(made)) + len(after.counters.changed)


class Reached(NamedTuple):
    """A state that a search reached, the index of its step, and the keys of this state and of the one before it.

    The search follows `value` besides the state.
    """

    place: int
    state: State
    value: int
    key: Key
    before: Key | None
    is_new: bool


Follow = Callable[[Visit | None, State, int], tuple[State, int] | None]
"""Returns the state and the value to continue with after a visit, or None to go no further. The start has no visit."""


def _anywhere(_: Visit | None, state: State, value: int) -> tuple[State, int]:
    return state, value


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
    """For each visit with a new state or edge, the index of the step before it; the starts come first."""
    first: dict[Taken, int] = field(default_factory=dict)
    """The index of the first visit that took an edge."""
    distances: dict[Key, int] = field(default_factory=dict)
    """The fewest visits to an end, for each state that can reach one."""
    effort: int = EFFORT
    finds_edges: bool = True

    def path(self, place: int) -> tuple[Visit, ...]:
        """Return the visits of a shortest path to one of these steps."""
        visits: list[Visit] = []
        while (step := self.steps[place])[1]:
            place = step[0]
            visits.append(step[1])
        return tuple(reversed(visits))

    def start_of(self, place: int) -> int:
        """Return the number of the start of the path to one of these steps."""
        while (step := self.steps[place])[1]:
            place = step[0]
        return step[0]

    def again(self) -> StateSpace:
        """Return the space for another search, which doesn't look for the first visits of edges."""
        return StateSpace(self.machine, self.view, self.outcomes, self.tries_all, finds_edges=False)

    def key(self, state: State, value: int = 0) -> Key:
        """Return the key of a state and of a value that a search follows."""
        return (value, *self.view.of(state))

    def search(self, starts: Iterable[State], follow: Follow = _anywhere) -> Iterator[Reached]:
        """Yield the starts and each visit to a state, breadth first. Each state is continued once."""
        known: set[Key] = set()
        pending: deque[Reached] = deque()
        tried: Iterator[tuple[int, Visit | None, State, int, Key | None]]
        tried = ((place, None, start, 0, None) for place, start in enumerate(starts))
        while True:
            for place, made, after, value, before in tried:
                followed = follow(made, after, value)
                if followed is None:
                    continue
                key = self.key(*followed)
                is_new = key not in known
                found = Reached(self._add(place, made, is_new=is_new), *followed, key, before, is_new)
                if is_new:
                    known.add(key)
                    pending.append(found)
                yield found
            if not pending:
                return
            tried = self._onward(pending.popleft())

    def _onward(self, at: Reached) -> Iterator[tuple[int, Visit, State, int, Key]]:
        if self.machine.end(at.state):
            return
        for outcome in self.outcomes[at.state.node]:
            made, after = visit(self.machine, at.state, outcome)
            self.effort -= cost(self.machine, made, after)
            yield at.place, made, after, at.value, at.key

    def _add(self, place: int, made: Visit | None, *, is_new: bool) -> int:
        """Add a step if it has a new state or edge, and return its index."""
        taken = taken_edges(made) if made and self.finds_edges else ()
        new = [one for one in taken if one not in self.first]
        if made is None or is_new or new:
            self.steps.append((place, made))
            self.first |= dict.fromkeys(new, len(self.steps) - 1)
        return len(self.steps) - 1


def state_space(program: Program, view: View | None = None) -> StateSpace:
    """Return a space of states to search in, without any yet."""
    outcomes, has_all_outcomes = outcomes_by_node(program)
    tries_all = has_all_outcomes and has_few_beginnings(program)
    return StateSpace(Machine(program), view or View(program), outcomes, tries_all)


def enumerate_states(program: Program) -> StateSpace:
    """Return the states of a program, as far as the effort allows. They are enumerated once."""
    if "states" not in program.analyses:
        program.analyses["states"] = space = state_space(program)
        _find_states(program, space)
    found: StateSpace = program.analyses["states"]
    return found


def _find_states(program: Program, space: StateSpace) -> None:
    before: dict[Key, list[Key]] = {}
    ends: list[Key] = []
    space.is_complete = space.tries_all
    for reached in space.search(map(space.machine.start, beginnings(program))):
        before.setdefault(reached.key, []).extend([reached.before] if reached.before else ())
        if reached.is_new and space.machine.end(reached.state):
            ends.append(reached.key)
        if space.effort <= 0:
            space.is_complete = False
            break
    space.distances = _distances(before, ends)


def _distances(before: dict[Key, list[Key]], ends: list[Key]) -> dict[Key, int]:
    found, pending = dict.fromkeys(ends, 0), deque(ends)
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
        return (state.node, state.done, seen, *[text if text in texts else texts[-1] for text, texts in slots])


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
        self.starts = {space.key(start): (given, start) for given, start in _beginnings(self.machine)}
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
    return lambda state: space.distances.get(space.key(state))


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
