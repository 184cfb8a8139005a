"""Find the edges that a run can take, by earlier edges and the possible values of counters at each node.

The analysis follows all runs at once from the start until nothing changes. It also follows the program's explicit
operator jumps (I27) from everywhere. For each counter it tracks only whether it can be zero and whether it can be more.
The result is sound: no run takes an edge that it calls impossible. It is not complete, because it ignores how counters
depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import TypeGuard

from msgspec import Struct

from compiler.analyses.facts import Domains, Facts, find_domains
from compiler.analyses.landings import Landings
from compiler.analyses.tracks import Tracks, find_tracks
from compiler.ir.edges import CounterTest, Edge, Following, OutcomeTest, SlotTest, Test, may_follow, register_tests
from compiler.ir.program import Node, Program
from compiler.ir.tasks import alphabet

EFFORT = 40
"""The most visits per edge, on average, before the analysis gives up."""

Values = dict[int, int]
"""The possible counter values of some tracks."""


Choice = tuple[int, tuple[Test, ...], Values]
"""An edge's index, the tests that may or may not hold there, and the values with which a run takes it."""


class PossibleTransition(Struct, frozen=True):
    """The index of a possible edge among its node's edges, and the tests that don't always hold there."""

    place: int
    open: frozenset[Test]


class Possible(Struct, frozen=True):
    """The possible edges; `is_complete` is False if the analysis gave up on counters."""

    transitions: Mapping[str, tuple[PossibleTransition, ...]]
    is_complete: bool = True


_NAME = "possible transitions"


def possible_transitions(program: Program) -> Mapping[str, tuple[PossibleTransition, ...]]:
    """Return the possible edges of each reachable node that tests counters or has hidden edges.

    Strings are only known from earlier edges' tests and from the options of inputs. A node that is missing in the
    result may take any of its edges.
    """
    return possible(program).transitions


def possible(program: Program) -> Possible:
    """Return the possible edges, and whether the search for them finished."""
    if _NAME not in program.analyses:
        program.analyses[_NAME] = _possible(program)
    found: Possible = program.analyses[_NAME]
    return found


def _possible(program: Program) -> Possible:
    domains = find_domains(program)
    shadowed = {
        node.id: transitions
        for node in program.nodes
        if len(node.edges) > 1 and not _hides_nothing(node) and (transitions := _unshadowed(node, domains))
    }
    tracks = find_tracks(program)
    if not tracks.every:
        return Possible(shadowed)
    landings = Landings(program, tracks)
    search = _Search(program, tracks, landings) if landings.are_few else None
    if search is None or not search.run():
        return Possible(shadowed, is_complete=False)
    return Possible(shadowed | dict(search.transitions()))


def _unshadowed(node: Node, domains: Domains) -> tuple[PossibleTransition, ...]:
    """Return the edges of a node that earlier edges don't hide, or nothing if that changes nothing."""
    open_tests: dict[int, set[Test]] = {}
    following = Following(node.edges)
    for word in alphabet(node.task) or (None,):
        for place, tests in _left(following.after(word), Facts(domains)):
            open_tests.setdefault(place, set()).update(tests)
    written = {place: set(register_tests(edge)) for place, edge in enumerate(node.edges)}
    if open_tests == written:
        return ()
    return tuple(PossibleTransition(place, frozenset(open_tests[place])) for place in sorted(open_tests))


def _hides_nothing(node: Node) -> bool:
    """Return whether no edge tests a string or follows an edge that always holds, as in nearly all nodes."""
    closed: set[str] = set()
    for edge in node.edges:
        guard = edge.guard
        first = guard[0] if guard else None
        if not isinstance(first, OutcomeTest) or first.word in closed:
            return False
        if len(guard) == 1:
            closed.add(first.word)
        elif not all(isinstance(test, CounterTest) for test in guard[1:]):
            return False
    return True


def _left(edges: Iterable[tuple[int, Edge]], known: Facts) -> Iterator[tuple[int, list[Test]]]:
    """Yield the possible edges of an outcome's, with the tests that don't always hold, ignoring counters."""
    for place, edge in edges:
        asked = register_tests(edge)
        if known.and_(test for test in asked if isinstance(test, SlotTest)) is None:
            continue
        tests: list[Test] = [test for test in asked if isinstance(test, CounterTest) or known.and_not(test)]
        yield place, tests
        if not tests:
            return
        if len(tests) == 1 and isinstance(tests[0], SlotTest):
            known = known.and_not(tests[0]) or known


class _Search:
    """One analysis. `at` has the reachable nodes with the values of the tracks that they are members of.

    `outside` are each track's values at all other nodes, and `entries` the nodes from which a run enters a member with
    these values. `effort` counts the edges looked at.
    """

    def __init__(self, program: Program, tracks: Tracks, landings: Landings) -> None:
        self.nodes = program.nodes
        self.tracks = tracks
        self.place = {node.id: place for place, node in enumerate(program.nodes)}
        self.outside = [track.initial for track in tracks.every]
        self.entries: list[dict[str, None]] = [{} for _ in tracks.every]
        self.at: dict[str, Values] = {}
        self.effort = 0
        self._pending: list[tuple[int, int]] = []
        self._waiting: set[str] = set()
        self._now = (0, -1)
        self.landings = landings
        self._join(program.entry, {number: self.outside[number] for number in self._members(program.entry)})

    def run(self) -> bool:
        """Follow everything; return False if that takes too long."""
        most = EFFORT * sum(len(node.edges) for node in self.nodes)
        while self._pending and self.effort < most:
            self._walk(most)
            for name, values in self.landings.at(self.outside, self.at):
                self._join(name, values)
        return not self._pending

    def _walk(self, most: int) -> None:
        while self._pending and self.effort < most:
            self._now = heappop(self._pending)
            node = self.nodes[self._now[1]]
            self._waiting.discard(node.id)
            self.effort += len(node.edges)
            for place, _, values in self._leaving(node):
                self._follow(node, node.edges[place], values)

    def transitions(self) -> Iterator[tuple[str, tuple[PossibleTransition, ...]]]:
        """Yield the results by node."""
        for node in self.nodes:
            if node.id in self.at and _chooses(node):
                found: dict[int, set[Test]] = {}
                for place, tests, _ in self._leaving(node):
                    found.setdefault(place, set()).update(tests)
                yield node.id, tuple(PossibleTransition(place, frozenset(found[place])) for place in sorted(found))

    def _members(self, name: str) -> Iterable[int]:
        return self.tracks.at.get(name, ())

    # --- Along an edge ------------------------------------------------------------------------------------------------

    def _follow(self, node: Node, edge: Edge, values: Values) -> None:
        """Move values along an edge: to its target, or outside if they don't matter there."""
        found: Values = {}
        for number in self._members(edge.target):
            if number not in values:
                self.entries[number][node.id] = None
            found[number] = self._after(number, values.get(number, self.outside[number]), edge)
        for number, known in values.items():
            if number not in found:
                self._leave(number, self._after(number, known, edge))
        self._join(edge.target, found)

    def _after(self, number: int, values: int, edge: Edge) -> int:
        return self.tracks.every[number].after(values, edge.effects) if edge.effects else values

    def _leave(self, number: int, values: int) -> None:
        if values | self.outside[number] != self.outside[number]:
            self.outside[number] |= values
            for name in self.entries[number]:
                self._queue(name)

    def _join(self, name: str, found: Values) -> None:
        is_new = name not in self.at
        known = self.at.setdefault(name, {})
        more = {number: known.get(number, 0) | values for number, values in found.items()}
        if is_new or more != known:
            self.at[name] = more
            self._queue(name)
            for number, values in self.landings.taken_along(more).items():
                self._leave(number, values)

    def _queue(self, name: str) -> None:
        """Queue a node for another visit: in this sweep over the program if it is below, otherwise in the next one."""
        if name not in self._waiting:
            self._waiting.add(name)
            sweep, place = self._now
            heappush(self._pending, (sweep + (self.place[name] <= place), self.place[name]))

    # --- Out of a node ------------------------------------------------------------------------------------------------

    def _leaving(self, node: Node) -> Iterator[Choice]:
        """Yield the possible edges of a node for each outcome."""
        if not _chooses(node):
            yield from ((place, (), self.at[node.id]) for place in range(len(node.edges)))
            return
        for word in alphabet(node.task) or (None,):
            yield from self._choices(node, word)

    def _choices(self, node: Node, word: str | None) -> Iterator[Choice]:
        values = self.at[node.id]
        for place, edge in enumerate(node.edges):
            passing = self._passing(values, edge.guard) if may_follow(edge, word) else None
            if passing is None:
                continue
            tests, through = passing
            yield place, tests, through
            if not tests:
                return
            if len(tests) == 1 and self._is_followed(tests[0]):
                number = self.tracks.of[tests[0].register]
                values = {**values, number: self.tracks.every[number].failing(values[number], tests[0])}

    def _passing(self, values: Values, guard: Iterable[Test]) -> tuple[tuple[Test, ...], Values] | None:
        """Return the undecided tests of a guard and the values with which all hold, or None if they cannot."""
        tests: list[Test] = []
        for test in guard:
            if not self._is_followed(test):
                tests += [] if isinstance(test, OutcomeTest) else [test]
                continue
            number = self.tracks.of[test.register]
            track = self.tracks.every[number]
            passing = track.passing(values[number], test)
            if not passing:
                return None
            if track.failing(values[number], test):
                tests.append(test)
                values = {**values, number: passing}
        return tuple(tests), values

    def _is_followed(self, test: Test) -> TypeGuard[CounterTest]:
        return isinstance(test, CounterTest) and test.register in self.tracks.of


def _chooses(node: Node) -> bool:
    """Return whether counters decide where a run continues from a node."""
    return any(isinstance(test, CounterTest) for edge in node.edges for test in edge.guard)
