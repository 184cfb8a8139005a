"""What a program means: one step of the machine, as a pure function (architecture: semantics).

`start` gives the first state; `advance` takes the outcome of the node that a state stands at and gives the next state.
Nodes without a task of their own (branches, and the ends of nested runbooks) are passed through on the way. Nothing is
run here: scenario tests, traces and the comparison of targets all ask this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import assert_never

from compiler.ir.counters import Bank, Counters
from compiler.ir.placeholders import substitute
from compiler.ir.program import (
    Branch,
    CounterTest,
    Edge,
    Effect,
    End,
    KeywordTest,
    Node,
    OutcomeTest,
    Program,
    Set,
    SlotTest,
    Test,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a node's task: the verdict, the text that was answered, and the keyword found in it."""

    verdict: Verdict
    text: str = ""
    keyword: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Where a run stands: a node that waits for an outcome or is the end, and all registers."""

    node: str
    counters: Counters
    slots: MappingProxyType[str, str]


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a run: the edges taken, the first one being the node's own, and the state they lead to."""

    edges: tuple[Edge, ...]
    state: State


@dataclass(frozen=True, slots=True)
class Jump:
    """An operator's jump to a unit: what it does depends on whether the run stands in the `group` of that unit."""

    target: str
    from_outside: tuple[Effect, ...]
    from_inside: tuple[Effect, ...]
    group: str


class Machine:
    """A program made ready for walking. It holds no state of a run."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.nodes = program.index()

    @cached_property
    def _bank(self) -> Bank:
        return Bank(self.program.registers)

    def start(self) -> State:
        """The state in which a run begins."""
        slots = {slot.name: slot.initial for slot in self.program.slots}
        return self._settle(self.program.entry, Counters(self._bank, {}), slots, ()).state

    def advance(self, state: State, outcome: Outcome) -> Move:
        """What follows when the node of a state has an outcome (M13).

        Raises:
            ValueError: The state is the end of the program, where nothing follows.
        """
        node = self.nodes[state.node]
        if not node.edges:
            raise ValueError(f"{state.node} is an end")
        edge = self._choose(node, state.counters, state.slots, outcome)
        return self._settle(edge.target, state.counters.after(edge.effects), state.slots.copy(), (edge,))

    def jump(self, state: State, jump: Jump) -> State:
        """Where a run goes on when its operator takes it elsewhere; the unit that it stands at gets no outcome."""
        effects = jump.from_inside if self._is_inside(self.nodes[state.node].group, jump.group) else jump.from_outside
        retries = self.nodes[state.node].retries
        leaving: tuple[Effect, ...] = (Set(retries, 0),) if retries else ()  # M9
        return self._settle(jump.target, state.counters.after((*leaving, *effects)), state.slots.copy(), ()).state

    def _is_inside(self, group: str, outer: str) -> bool:
        while group and group != outer:
            group = self._parents[group]
        return group == outer

    @cached_property
    def _parents(self) -> dict[str, str]:
        return {group.id: group.parent for group in self.program.groups}

    def attempt(self, state: State) -> int:
        """The number of the attempt that a state stands before, counted within the visit (M4)."""
        retries = self.nodes[state.node].retries
        return 1 if retries is None else state.counters[retries] + 1

    def text(self, state: State, text: str) -> str:
        """A text of the state's node with its placeholders replaced by instance numbers (M5)."""
        shown = [variable for variable in self.nodes[state.node].variables if variable.placeholder]
        return substitute(text, {item.placeholder or "": str(state.counters[item.register]) for item in shown})

    def _settle(self, name: str, counters: Counters, slots: dict[str, str], edges: tuple[Edge, ...]) -> Move:
        """Passes through nodes without a task; the verifier has proved that this ends."""
        node = self.nodes[name]
        while isinstance(node.task, Branch) or (isinstance(node.task, End) and node.edges):
            edge = self._choose(node, counters, slots, None)
            counters = counters.after(edge.effects)
            edges = (*edges, edge)
            node = self.nodes[edge.target]
        return Move(edges, State(node.id, counters, MappingProxyType(slots)))

    def _choose(
        self, node: Node, counters: Mapping[str, int], slots: Mapping[str, str], outcome: Outcome | None
    ) -> Edge:
        return next(edge for edge in node.edges if all(holds(test, counters, slots, outcome) for test in edge.guard))


def holds(test: Test, counters: Mapping[str, int], slots: Mapping[str, str], outcome: Outcome | None) -> bool:
    """Whether one test of a guard holds."""
    match test:
        case OutcomeTest(verdict):
            return outcome is not None and outcome.verdict is verdict
        case KeywordTest(keyword):
            return outcome is not None and outcome.keyword == keyword
        case SlotTest(slot, operator, text):
            return (slots[slot] == text) == (operator == "==")
        case CounterTest(register, operator, value):
            number = counters[register]
            return {"<": number < value, ">=": number >= value, "=": number == value}[operator]
        case _:
            assert_never(test)
