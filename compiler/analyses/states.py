"""Explore the states of a program breadth first, each once.

States that no guard can distinguish count as one. They differ only in counters that no guard reads, or in how far a
counter is beyond every number it is compared with. So even a program that counts without end can have few states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from math import inf

from msgspec import Struct, field

from compiler.analyses.outcomes import beginnings, has_few_beginnings, outcomes_by_node, told_apart
from compiler.ir.edges import Add, CounterEffect, CounterTest, Edge, Reset, counter_effects, feeding
from compiler.ir.graph import reached_from
from compiler.ir.paths import Visit, visit
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, State

EFFORT = 1_000_000
"""The most edges to look at, and changed counters to keep, before the exploration gives up."""

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
    """The result of an exploration; `is_complete` is true if it found everything."""

    view: View
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
    """Return the states of a program, as far as the effort allows."""
    machine, space = Machine(program), StateSpace(View(program))
    outcomes, has_all_outcomes = outcomes_by_node(program)
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
        for outcome in outcomes[state.node]:
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
    space.is_complete = not pending and has_all_outcomes and has_few_beginnings(program)
    space.distances = _distances(before, ends)
    return space


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
        effects = counter_effects(effect for edge in edges for effect in edge.effects)
        feeds = feeding([effects])
        self.read = reached_from((test.register for test in tests), lambda name: feeds.get(name, ())).keys()
        self.told = told_apart(program)
        self.most = inf if _can_fall(program, effects) else max((test.value for test in tests), default=0) + 1

    def of(self, state: State) -> Key:
        """Return the key of a state; counters that only rise or reset are equal beyond `most`."""
        changed = state.counters.changed.items()
        seen = frozenset((name, min(value, self.most)) for name, value in changed if name in self.read)
        told = [_seen(state.slots[slot] or "", texts) for slot, texts in self.told.items()]
        return (state.node, state.done, seen, *told)


def _can_fall(program: Program, effects: Iterable[CounterEffect]) -> bool:
    """Return whether a counter can fall other than to a fixed value, by adding a number that may be negative."""
    numbers = [
        effect.amount if isinstance(effect, Add) else effect.value
        for effect in effects
        if not isinstance(effect, Reset)
    ]
    numbers += [register.initial for register in program.registers]
    return any(isinstance(number, int) and number < 0 for number in numbers)


def _seen(text: str, texts: Sequence[str]) -> str:
    """Return a string as tests see it, with all indistinguishable strings replaced by one."""
    return text if text in texts else texts[-1]
