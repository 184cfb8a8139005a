"""Prove that rules hold on every run of a program, or find a shortest run that breaks them (P-11 to P-13).

The first tier follows the rule's value on the graph, as if every test could hold. If that reaches no breach, the rule
holds. Otherwise, the second tier explores exact states, but only where the first tier can still reach one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from msgspec.structs import replace

from compiler.analyses.domains import valid_beginnings
from compiler.analyses.enumeration import StateSpace, state_space
from compiler.ir.graph import on_the_way, reached_from
from compiler.ir.paths import Visit, visit
from compiler.ir.program import Program, without_jumps
from compiler.ir.rules import Event, Rule
from compiler.ir.semantics import State
from compiler.ir.tasks import Gate
from compiler.rules.forgetting import Forgetting
from compiler.rules.model import Proof, Status
from compiler.rules.watch import BROKEN, Moves, Watch, possible_moves

MOST_STATES = 200_000
"""The most states to explore for one rule."""

MOST_COUNTED = 8
"""The first tier counts up to this number. Beyond it, each event may be one too many."""

Place = tuple[str, int]
"""A node and the rule's value there."""

START: Place = ("", 0)
BREACH: Place = ("", BROKEN)


def prove(program: Program, rules: Iterable[Rule]) -> tuple[Proof, ...]:
    """Return the proof of each rule, in order. It ignores operator's jumps."""
    return tuple(map(_Prover(without_jumps(program)).proof, rules))


class _Prover:
    """The parts that the proofs of all rules share. The states are prepared for the first rule that needs them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._moves = possible_moves(program)

    @cached_property
    def _exact(self) -> tuple[StateSpace, Forgetting, list[dict[str, str]]]:
        """The space of states, what they can forget, and the inputs of each start."""
        edges = {name: [edge for _, edge in moves] for name, moves in self._moves.items()}
        return state_space(self.program), Forgetting(self.program, edges), list(valid_beginnings(self.program))

    def proof(self, rule: Rule) -> Proof:
        """Return the proof of one rule."""
        tier = _Graph(self.program, rule, self._moves)
        if not tier.region:
            return Proof(Status.HOLDS)
        shared, forgetting, beginnings = self._exact
        space, watch = shared.again(), Watch(self.program, rule)
        machine = space.machine

        def after_visit(made: Visit | None, state: State, value: int) -> tuple[State, int] | None:
            after = watch.visited(machine, made, state, value if made else watch.before)
            if after == BROKEN:
                return state, BROKEN
            return (forgetting.without_forgotten(state), after) if tier.has(state.node, after) else None

        states = 0
        for reached in space.search(map(machine.start, beginnings), after_visit):
            if reached.value == BROKEN:
                return _broken(space, beginnings[space.start_of(reached.place)], reached.place, watch.event)
            states += reached.is_new
            if states > MOST_STATES:
                return Proof(Status.NOT_PROVEN, reason=f"rdc explored {MOST_STATES:,} states, and there are more")
        if not space.tries_all:
            return Proof(Status.NOT_PROVEN, reason="tests distinguish more strings than rdc tries")
        return Proof(Status.HOLDS)


def _broken(space: StateSpace, inputs: Mapping[str, str], place: int, event: Event | None) -> Proof:
    """Return the breach, and its visits as a run shows them, with all counters."""
    state = space.machine.start(inputs)
    visits: list[Visit] = []
    for made in space.path(place):
        again, state = visit(space.machine, state, made.outcome)
        visits.append(again)
    return Proof(Status.BROKEN, tuple(visits), event, tuple(inputs.items()))


class _Graph:
    """The first tier. `region` has the places on paths to a breach; it is empty without such a path."""

    def __init__(self, program: Program, rule: Rule, moves: Moves) -> None:
        self._is_limited = program.limit is not None
        self._moves, nodes = moves, program.index()
        self._watches = [Watch(program, rule)]
        if rule.most is not None and rule.most > MOST_COUNTED:
            # From this number on, an event may be one too many or not, so both are followed.
            self._watches = [Watch(program, replace(rule, most=MOST_COUNTED)), Watch(program, replace(rule, guards=()))]
        entered = reached_from(
            [program.entry], lambda name: (edge.target for _, edge in moves[name] if nodes[name].is_passed)
        )
        self._first = [name for name in entered if not nodes[name].is_passed]
        self.region = on_the_way(START, BREACH, self._onward)

    def has(self, node: str, value: int) -> bool:
        """Return whether a breach can follow at a node with a value."""
        return (node, self._cut(value)) in self.region

    def _cut(self, value: int) -> int:
        return min(value, MOST_COUNTED) if len(self._watches) > 1 else value

    def _onward(self, place: Place) -> Iterator[Place]:
        name, value = place
        if place == START:
            for first in self._first:  # a run settles nothing before its first step
                yield from self._arrived(self._watches[0], self._watches[0].before, first)
            return
        for watch in self._watches if value == MOST_COUNTED else self._watches[:1]:
            for word, edge in self._moves[name]:
                yield from self._arrived(watch, watch.taken(value, word, name, edge), edge.target)

    def _arrived(self, watch: Watch, value: int, name: str) -> Iterator[Place]:
        after = watch.arrived(value, name)
        yield BREACH if after == BROKEN else (name, self._cut(after))
        # The limit of steps can end a run before a node (I24).
        is_over = self._is_limited and not isinstance(watch.nodes[name].task, Gate)
        if is_over and watch.arrived(value, name, is_over=True) == BROKEN:
            yield BREACH
