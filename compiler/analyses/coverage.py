"""Which transitions walks take, and how the others could be taken.

The states of a program are explored breadth first, each once. Two states count as one if they differ only in what no
guard can tell apart: counters that no guard reads, and how far a counter is beyond every number it is compared with.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from compiler.ir.program import Add, CounterTest, Edge, Origin, OutcomeTest, Program, Verdict
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.walks import Visit, Walk, ending, visit

MOST_STATES = 20_000
MOST_COUNTERS = 2_000_000
"""How many states are explored, and counters in them, before what was not found counts as not known."""


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


def coverage(program: Program, walks: Iterable[Walk]) -> Coverage:
    """Which transitions of a program these walks take."""
    every = {found: None for node in program.nodes for edge in node.edges if (found := _transition(node.id, edge))}
    taken = {found for walk in walks for made in walk.visits for found in _taken(made)}
    missing = [transition for transition in every if transition not in taken]
    if not missing:
        return Coverage(len(every), ())
    explored = _explore(program)
    untaken = [Untaken(item, explored.way(item), explored.is_complete) for item in missing]
    known = [item for item in untaken if item.transition.origins or item.way is not None or not item.is_certain]
    return Coverage(len(every) - len(untaken) + len(known), tuple(known))


def _transition(unit: str, edge: Edge) -> Transition | None:
    """The transition that an edge belongs to; None for an edge that its author would not call one."""
    if not edge.label:
        return None
    verdict = next((test.verdict for test in edge.guard if isinstance(test, OutcomeTest)), None)
    return Transition(unit, verdict, edge.label, edge.origins)


def _taken(made: Visit) -> Iterator[Transition]:
    names = (made.unit, *(edge.target for edge in made.edges))
    for name, edge in zip(names, made.edges, strict=False):
        if transition := _transition(name, edge):
            yield transition


@dataclass
class _Exploration:
    """For each state found, in order, the one before it and the visit that led there; and who first took what."""

    steps: list[tuple[int, Visit | None]] = field(default_factory=list)
    first: dict[Transition, int] = field(default_factory=dict)
    is_complete: bool = True

    def way(self, transition: Transition) -> tuple[Visit, ...] | None:
        """The visits of a shortest walk up to the one that takes a transition."""
        if transition not in self.first:
            return None
        visits: list[Visit] = []
        place = self.first[transition]
        while (step := self.steps[place])[1]:
            place = step[0]
            visits.append(step[1])
        return tuple(reversed(visits))


def _explore(program: Program) -> _Exploration:
    machine, explored, view = Machine(program), _Exploration(), _View(program)
    most = min(MOST_STATES, MOST_COUNTERS // (1 + len(program.registers)))
    start = machine.start()
    seen = {view.of(start)}
    pending = deque([(start, 0)])
    explored.steps.append((0, None))
    while pending:
        state, place = pending.popleft()
        if ending(machine, state):
            continue
        for verdict in Verdict:
            made, after = visit(machine, state, Outcome(verdict))
            new = [item for item in _taken(made) if item not in explored.first]
            is_known = view.of(after) in seen
            if is_known and not new:
                continue
            explored.steps.append((place, made))
            explored.first |= dict.fromkeys(new, len(explored.steps) - 1)
            if not is_known:
                seen.add(view.of(after))
                pending.append((after, len(explored.steps) - 1))
        if len(seen) > most:
            explored.is_complete = False
            return explored
    return explored


class _View:
    """What guards can tell of a state."""

    def __init__(self, program: Program) -> None:
        edges = [edge for node in program.nodes for edge in node.edges]
        tests = [test for edge in edges for test in edge.guard if isinstance(test, CounterTest)]
        sums = {
            (effect.amount, effect.register) for edge in edges for effect in edge.effects if isinstance(effect, Add)
        }
        read = {test.register for test in tests}
        while more := {amount for amount, register in sums if register in read and isinstance(amount, str)} - read:
            read |= more
        self.counters = sorted(read)
        self.most = max((test.value for test in tests), default=0) + 1

    def of(self, state: State) -> tuple[object, ...]:
        """The state as guards see it. Counters never fall but to a fixed value, so that beyond `most` all are alike."""
        counters = (min(state.counters[name], self.most) for name in self.counters)
        return (state.node, *counters, *state.slots.values())
