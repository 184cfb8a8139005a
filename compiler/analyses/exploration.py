"""Explore the states of a program: which values its registers can have at each node, and which edges a run can take.

Warnings, passes and targets ask this one exploration. It follows all runs at once from the start, and the explicit
operator's jumps from everywhere (I27), until nothing changes. It knows whether a counter can be zero or more, and which
of the tested strings a slot can have within a node. It ignores how registers depend on each other, so it takes only a
few visits per edge. No run takes an edge that it calls impossible, also if it gave up.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from compiler.analyses.domains import Domains, find_domains
from compiler.ir.edges import Edge, Effect, Following, OutcomeTest, Set, Test
from compiler.ir.program import Jump, Node, Program
from compiler.ir.tasks import IDLE, alphabet

EFFORT = 40  # the most visits per edge, on average, before the exploration gives up

LARGEST = 400_000_000
"""The most bits to keep for the values at all nodes. With more, the exploration gives up at once."""


class Exploration(Struct, frozen=True):
    """The result: `is_complete` is False if it gave up, and then nothing is known about counters.

    `edges` are the possible edges of each node where registers or earlier edges decide, by index, each with the tests
    that don't always hold there. `values` are those at each reachable node.
    """

    edges: Mapping[str, Mapping[int, frozenset[Test]]]
    values: Mapping[str, int]
    domains: Domains
    is_complete: bool = True

    def left(self, node: Node) -> Node:
        """Return a node with only its possible edges."""
        places = self.edges.get(node.id)
        if places is None or len(places) == len(node.edges):
            return node
        return replace(node, edges=tuple(node.edges[place] for place in places))


def explore(program: Program) -> Exploration:
    """Return what is known about all runs of a program. It is explored once."""
    name = "exploration"
    if name not in program.analyses:
        program.analyses[name] = _Search(program, find_domains(program)).result()
    found: Exploration = program.analyses[name]
    return found


def kept_retries(program: Program) -> frozenset[str]:
    """Return the counters of retries that may be more than zero while the run is at another step (T-4).

    These need a name of their own; all others can share one that a transition clears. If the exploration gave up, all
    of them need one.
    """
    retries = {node.retries for node in program.nodes if node.retries}
    domains = find_domains(program, retries)
    found = _Search(program, domains).result() if retries else None
    if not found or not found.is_complete or not domains.counters:
        return frozenset(retries)
    elsewhere = 0
    for node in program.nodes:
        own = domains.more(node.retries) if node.retries else 0
        elsewhere |= found.values.get(node.id, 0) & ~own if type(node.task) not in IDLE else 0
    return frozenset(name for name in retries if elsewhere & domains.more(name))


class Choice(NamedTuple):
    """A possible edge's index, the tests that may or may not hold there, and the values with which a run takes it."""

    place: int
    open: tuple[Test, ...]
    values: int


class _Search:
    """One exploration. `at` has the values at each reachable node; `effort` is the number of edges looked at."""

    def __init__(self, program: Program, domains: Domains) -> None:
        self.program, self.nodes, self.domains = program, program.nodes, domains
        self.at: dict[str, int] = {}
        self.effort = 0
        self._place = {node.id: place for place, node in enumerate(program.nodes)}
        self._pending: list[tuple[int, int]] = []
        self._waiting: set[str] = set()
        self._now = (0, -1)
        self._deciding = {node.id for node in program.nodes if len(node.edges) > 1 and not self._hides_nothing(node)}

    def result(self) -> Exploration:
        """Follow everything, if a test of a counter may depend on it, and return what is known then."""
        is_complete = True
        if self.domains.counters:
            is_complete = len(self.nodes) * self.domains.size <= LARGEST and self.run()
        if not is_complete:
            self.at = {}
        values = ((node, self.at.get(node.id, self.domains.every)) for node in self.nodes if node.id in self._deciding)
        edges = {node.id: _possible(self._choices(node, known)) for node, known in values}
        return Exploration(edges, self.at, self.domains, is_complete)

    def run(self) -> bool:
        """Follow everything from the start; return False if that takes too long."""
        most = EFFORT * sum(len(node.edges) for node in self.nodes)
        self._join(self.program.entry, self.domains.initial)
        while self._pending and self.effort < most:
            self._now = heappop(self._pending)
            node = self.nodes[self._now[1]]
            self._waiting.discard(node.id)
            self.effort += len(node.edges)
            for place, _, values in self._leaving(node):
                edge = node.edges[place]
                self._join(edge.target, self.domains.after(values, edge.effects) if edge.effects else values)
            if not self._pending and self.program.jumps:
                # Follow all jumps. The effects of entering a group only apply if the run is outside of it.
                inside = self._inside()
                for jump in self.program.jumps:
                    self.effort += 1 + len(jump.entering)
                    for group, effects in _ways(jump):
                        if group in inside:
                            self._join(jump.target, self.domains.after(inside[group], effects))
        return not self._pending

    def _join(self, name: str, values: int) -> None:
        """Add values at a node. It is visited again in this sweep if it is below, otherwise in the next one."""
        known = self.at.get(name)
        if known is not None and known | values == known:
            return
        self.at[name] = values | (known or 0)
        if name not in self._waiting:
            self._waiting.add(name)
            sweep, place = self._now
            heappush(self._pending, (sweep + (self._place[name] <= place), self._place[name]))

    def _leaving(self, node: Node) -> Iterable[Choice]:
        values = self.at[node.id]
        if node.id in self._deciding:
            return self._choices(node, values)
        return (Choice(place, (), values) for place in range(len(node.edges)))

    def _hides_nothing(self, node: Node) -> bool:
        """Return whether neither registers nor earlier edges can rule out an edge, as in most nodes."""
        closed: set[str] = set()
        for edge in node.edges:
            guard = edge.guard
            first = guard[0] if guard else None
            if not isinstance(first, OutcomeTest) or first.word in closed:
                return False
            if len(guard) == 1:
                closed.add(first.word)
            elif any(isinstance(test, OutcomeTest) or self.domains.split(test) for test in guard[1:]):
                return False
        return True

    def _choices(self, node: Node, values: int) -> Iterator[Choice]:
        values |= self.domains.strings
        following = Following(node.edges)
        for word in alphabet(node.task) or (None,):
            yield from self._of_outcome(following.after(word), values)

    def _of_outcome(self, edges: Iterable[tuple[int, Edge]], values: int) -> Iterator[Choice]:
        for place, edge in edges:
            choice = self._taken(place, edge, values)
            if choice is None:
                continue
            yield choice
            if not choice.open:
                return
            if len(choice.open) == 1 and (split := self.domains.split(choice.open[0])):
                values &= ~(split.holds & ~split.fails)

    def _taken(self, place: int, edge: Edge, values: int) -> Choice | None:
        """Return the tests of an edge that may or may not hold and the values if all hold, or None if they can't."""
        undecided: list[Test] = []
        for test in edge.guard:
            if isinstance(test, OutcomeTest):
                continue
            split = self.domains.split(test)
            if split and not values & split.holds:
                return None
            if not split or values & split.fails:
                undecided.append(test)
            if split:
                values &= ~(split.fails & ~split.holds)
        return Choice(place, tuple(undecided), values)

    def _inside(self) -> dict[str, int]:
        """Return the values that a jump can take along from anywhere in each group; "" is the whole program."""
        found: dict[str, int] = {}
        for node in self.nodes:
            values = self.at.get(node.id)
            if values is None:
                continue
            self.effort += 1
            if node.retries:
                values = self.domains.after(values, (Set(node.retries, 0),))
            found[node.group] = found.get(node.group, 0) | values
        for group in reversed(self.program.groups):  # parents come first
            if group.id in found:
                found[group.parent] = found.get(group.parent, 0) | found[group.id]
        return found


def _ways(jump: Jump) -> Iterator[tuple[str, Sequence[Effect]]]:
    effects = tuple(jump.effects)
    for item in reversed(jump.entering):
        yield item.group, effects
        effects = (*item.effects, *effects)
    yield "", effects


def _possible(choices: Iterable[Choice]) -> dict[int, frozenset[Test]]:
    found: dict[int, set[Test]] = {}
    for place, tests, _ in choices:
        found.setdefault(place, set()).update(tests)
    return {place: frozenset(found[place]) for place in sorted(found)}
