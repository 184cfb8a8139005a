"""Prove that rules hold on every run of a program, or find a shortest run that breaks them (P-11 to P-13).

The first tier follows the rule's value on the graph, as if every test could hold. If that reaches no breach, the rule
holds. Otherwise, the second tier explores exact states, but only where the first tier can still reach one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec.structs import replace

from compiler.analyses.domains import valid_beginnings
from compiler.analyses.enumeration import StateSpace, state_space
from compiler.ir.graph import on_the_way, reached_from
from compiler.ir.paths import Visit, visit
from compiler.ir.program import Program, without_jumps
from compiler.ir.rules import Event, Rule
from compiler.ir.semantics import State
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
    prover = _Prover(without_jumps(program))
    return tuple(map(prover.proof, rules))


class _Prover:
    """The parts that the proofs of all rules share. The states are prepared for the first rule that needs them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._moves = possible_moves(program)

    @cached_property
    def _space(self) -> StateSpace:
        return state_space(self.program)

    @cached_property
    def _forgetting(self) -> Forgetting:
        edges = {name: [edge for _, edge in moves] for name, moves in self._moves.items()}
        return Forgetting(self.program, edges)

    @cached_property
    def _starts(self) -> list[dict[str, str]]:
        return list(valid_beginnings(self.program))

    def proof(self, rule: Rule) -> Proof:
        """Return the proof of one rule."""
        tier = _Graph(self.program, rule, self._moves)
        if not tier.region:
            return Proof(Status.HOLDS)
        space, watch = self._space.again(), Watch(self.program, rule)
        machine, forgetting = space.machine, self._forgetting

        def after_visit(made: Visit | None, state: State, value: int) -> tuple[State, int] | None:
            after = watch.visited(machine, made, state, value if made else watch.before)
            if after == BROKEN:
                return state, BROKEN
            return (forgetting.without_forgotten(state), after) if tier.has(state.node, after) else None

        states = 0
        for reached in space.search(map(machine.start, self._starts), after_visit):
            if reached.value == BROKEN:
                return self._broken(space, reached.place, watch.event)
            states += reached.is_new
            if states > MOST_STATES:
                return Proof(Status.NOT_PROVEN, reason=f"rdc explored {MOST_STATES:,} states, and there are more")
        if not space.tries_all:
            return Proof(Status.NOT_PROVEN, reason="tests distinguish more strings than rdc tries")
        return Proof(Status.HOLDS)

    def _broken(self, space: StateSpace, place: int, event: Event | None) -> Proof:
        """Return the breach, and its visits as a run shows them, with all counters."""
        inputs = self._starts[space.start_of(place)]
        state = space.machine.start(inputs)
        visits: list[Visit] = []
        for made in space.path(place):
            again, state = visit(space.machine, state, made.outcome)
            visits.append(again)
        return Proof(Status.BROKEN, tuple(visits), event, tuple(inputs.items()))


class _Graph:
    """The first tier. `region` has the places on paths to a breach; it is empty if there are none."""

    def __init__(self, program: Program, rule: Rule, moves: Moves) -> None:
        self._is_cut = rule.most is not None and rule.most > MOST_COUNTED
        self._watch = Watch(program, replace(rule, most=MOST_COUNTED) if self._is_cut else rule)
        self._moves, nodes = moves, self._watch.nodes
        entered = reached_from(
            [program.entry], lambda name: (edge.target for _, edge in moves[name] if nodes[name].is_passed)
        )
        self._first = [name for name in entered if not nodes[name].is_passed]
        self.region = on_the_way(START, BREACH, self._onward)

    def has(self, node: str, value: int) -> bool:
        """Return whether a breach can follow at a node with a value."""
        return (node, self._cut(value)) in self.region

    def _cut(self, value: int) -> int:
        return min(value, MOST_COUNTED) if self._is_cut else value

    def _onward(self, place: Place) -> Iterator[Place]:
        name, value = place
        # Beyond the number that is counted, an event may break the rule or not, so both are followed.
        for is_checked in (True, False) if self._is_cut else (True,):
            if place == START:
                for first in self._first:  # a run settles nothing before its first step
                    yield from self._arrived(self._watch.before, first, is_checked=is_checked)
                continue
            for word, edge in self._moves[name]:
                after = self._watch.taken(value, word, name, edge, is_checked=is_checked)
                if after == BROKEN:
                    yield BREACH
                else:
                    yield from self._arrived(after, edge.target, is_checked=is_checked)

    def _arrived(self, value: int, name: str, *, is_checked: bool) -> Iterator[Place]:
        for is_over in (False, True) if self._watch.may_be_over(name) else (False,):
            after = self._watch.arrived(value, name, is_over=is_over, is_checked=is_checked)
            if after == BROKEN:
                yield BREACH
            elif not is_over:
                yield name, self._cut(after)
