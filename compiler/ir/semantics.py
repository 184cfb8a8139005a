"""The meaning of a program: one step of the machine, as a pure function (docs/explanation/semantics.md).

`start` returns the first state. `advance` takes the outcome of a state's node and returns the next state. It passes
through nodes without a task, such as branches and the ends of nested runbooks. Nothing is executed here: scenario
tests, traces and the comparison of targets use this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import assert_never

from msgspec import Struct

from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    CounterTest,
    Edge,
    Effect,
    Following,
    Keep,
    OutcomeTest,
    Reset,
    Set,
    SlotTest,
    Test,
    counter_effects,
)
from compiler.ir.program import Counter, Jump, Node, Program, jumps_of, scope_members
from compiler.ir.tasks import Agent, End, Gate
from compiler.ir.texts import Text, text
from runtime_shim.io.reading import field_of

Slots = MappingProxyType[str, str | None]
"""The strings in slots; None for an unset slot."""


_MANY = 16  # with more edges, a machine finds those of an outcome in a table


class Bank:
    """A program's counters: their initial values, and the names in each scope."""

    def __init__(self, counters: Iterable[Counter]) -> None:
        counters = tuple(counters)
        self.initial = {counter.name: counter.initial for counter in counters}
        members = scope_members(counters)
        self.scopes = {scope: frozenset(counter.name for counter in found) for scope, found in members.items()}


class Counters(Mapping[str, int]):
    """The values of all counters at one moment. Only changed values take space."""

    __slots__ = ("_bank", "changed")

    def __init__(self, bank: Bank, changed: Mapping[str, int]) -> None:
        self._bank = bank
        self.changed = changed

    def __getitem__(self, name: str) -> int:
        """Return the value of a counter."""
        value = self.changed.get(name)
        return self._bank.initial[name] if value is None else value

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all counters."""
        return iter(self._bank.initial)

    def __len__(self) -> int:
        """Return the number of counters."""
        return len(self._bank.initial)

    def __eq__(self, other: object) -> bool:
        """Return whether all values are the same."""
        return isinstance(other, Counters) and self.changed == other.changed

    def __hash__(self) -> int:
        """Return the same hash for equal counters."""
        return hash(frozenset(self.changed.items()))

    def after(self, effects: Iterable[Effect]) -> Counters:
        """Return the counters after effects, applied in order. Effects on slots are ignored."""
        counting = counter_effects(effects)
        if not counting:
            return self
        changed = dict(self.changed)
        new = Counters(self._bank, changed)
        for effect in counting:
            if isinstance(effect, Reset):
                members = self._bank.scopes.get(effect.scope, frozenset())
                for name in [name for name in changed if name in members]:
                    del changed[name]
                continue
            changed[effect.register] = value = new._value_after(effect)
            if value == self._bank.initial[effect.register]:
                del changed[effect.register]  # so that equal values compare equal
        return new

    def only(self, keeps: Callable[[str], bool]) -> Counters:
        """Return the counters with only some of the changes; the others have their initial values."""
        kept = {name: value for name, value in self.changed.items() if keeps(name)}
        return self if len(kept) == len(self.changed) else Counters(self._bank, kept)

    def _value_after(self, effect: Set | Add | AtLeast) -> int:
        match effect:
            case Set(_, value):
                return value
            case Add(register, amount):
                return self[register] + (self[amount] if isinstance(amount, str) else amount)
            case AtLeast(register, value):
                return max(self[register], value)
            case _:
                assert_never(effect)


class Outcome(Struct, frozen=True):
    """The outcome of a node's task: its word, the answer's text, and outputs by name."""

    word: str
    text: str = ""
    values: tuple[tuple[str, str], ...] = ()


class State(Struct, frozen=True):
    """The state of a run: its node, which waits for an outcome or is the end, and all registers.

    `done` counts finished tasks except gates, if the program limits them (I24).
    """

    node: str
    counters: Counters
    slots: Slots
    done: int = 0


class Move(Struct, frozen=True):
    """One step of a run: the edges taken, the node's own edge first, and the next state."""

    edges: tuple[Edge, ...]
    state: State


class Machine:
    """A program prepared for stepping through it. It has no state."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.nodes = program.index()
        self._following: dict[str, Following] = {}

    @cached_property
    def _bank(self) -> Bank:
        return Bank(self.program.counters)

    def start(self, inputs: Mapping[str, str] = MappingProxyType({}), folder: str | None = None) -> State:
        """Return the first state for valid inputs (I8) and a reports directory (I30)."""
        slots = {slot.name: slot.initial for slot in self.program.slots}
        slots |= {declared.name: inputs.get(declared.name, declared.default) for declared in self.program.inputs}
        if self.program.folder:
            slots[self.program.folder] = folder
        return self._settle(self.program.entry, Counters(self._bank, {}), MappingProxyType(slots), 0, ()).state

    def advance(self, state: State, outcome: Outcome) -> Move:
        """Return the next move for the outcome of a state's node (I1).

        Raises:
            ValueError: The state is the end of the run.
        """
        node = self.nodes[state.node]
        if self.end(state):
            raise ValueError(f"{state.node} is an end")
        edge = self._choose(node, state.counters, state.slots, outcome.word)
        slots = slots_after(state.slots, edge.effects, outcome)
        done = state.done + (self.program.limit is not None and not isinstance(node.task, Gate))
        return self._settle(edge.target, state.counters.after(edge.effects), slots, done, (edge,))

    def jump(self, state: State, node: str) -> State:
        """Return the state after an operator's jump to a step. The current step gets no outcome (I27).

        Raises:
            KeyError: There is no such step.
        """
        jump, stands = self._jumps[node], self.nodes[state.node]
        leaving: tuple[Effect, ...] = (Set(stands.retries, 0),) if stands.retries else ()
        entered = (item for item in jump.entering if not self._is_inside(stands.group, item.group))
        effects = (*leaving, *(effect for item in entered for effect in item.effects), *jump.effects)
        slots = slots_after(state.slots, effects, None)
        return self._settle(jump.target, state.counters.after(effects), slots, state.done, ()).state

    @cached_property
    def _jumps(self) -> dict[str, Jump]:
        return jumps_of(self.program)

    def _is_inside(self, group: str, outer: str) -> bool:
        while group and group != outer:
            group = self.program.parents[group]
        return group == outer

    def end(self, state: State) -> End | None:
        """Return the end of a state with its message filled in; None while the run continues (I2, I24)."""
        node = self.nodes[state.node]
        if isinstance(node.task, End):
            return End(node.task.result, text(self.text(state, node.task.message)))
        if self.program.limit is None or state.done < self.program.limit or isinstance(node.task, Gate):
            return None
        return End("stop", text(f"{node.id}: the limit of {self.program.limit} steps was reached"))

    def attempt(self, state: State) -> int:
        """Return the number of the current attempt within a visit (I23)."""
        retries = self.nodes[state.node].retries
        return 1 if retries is None else state.counters[retries] + 1

    def text(self, state: State, written: Text) -> str:
        """Return a text with the values of a state's registers (I6)."""
        if written.is_plain:
            return str(written)
        return written.filled({item.register: self.value(state, item.register) for item in written.references})

    def prompt(self, state: State, agent: Agent) -> str:
        """Return the filled-in prompt of an agent, after its context (I11, I31)."""
        return "".join(self.text(state, written) for written in (*self.program.above(agent.context), agent.prompt))

    def value(self, state: State, register: str) -> str | None:
        """Return the value of a counter or slot as a string; None for an unset slot."""
        return state.slots[register] if register in state.slots else str(state.counters[register])

    def instances(self, state: State) -> tuple[tuple[str, int], ...]:
        """Return the instance numbers that a state's node sees, by variable name."""
        seen = self.nodes[state.node].variables
        return tuple((item.name, state.counters[item.register]) for item in seen if item.register not in state.slots)

    def _settle(
        self,
        name: str,
        counters: Counters,
        slots: MappingProxyType[str, str | None],
        done: int,
        edges: tuple[Edge, ...],
    ) -> Move:
        """Pass through nodes without a task. The verifier guarantees that this ends."""
        node = self.nodes[name]
        while node.is_passed:
            edge = self._choose(node, counters, slots, None)
            counters, slots = counters.after(edge.effects), slots_after(slots, edge.effects, None)
            edges = (*edges, edge)
            node = self.nodes[edge.target]
        return Move(edges, State(node.id, counters, slots, done))

    def _choose(self, node: Node, counters: Mapping[str, int], slots: Slots, word: str | None) -> Edge:
        edges: Iterable[Edge] = node.edges
        if len(node.edges) > _MANY:
            if node.id not in self._following:
                self._following[node.id] = Following(node.edges)
            following = self._following[node.id]
            edges = (edge for _, edge in following.after(word))
        for edge in edges:  # generators would take twice as long
            for test in edge.guard:
                if not holds(test, counters, slots, word):
                    break
            else:
                return edge
        raise AssertionError(f"{node.id} has no edge to take")


def holds(test: Test, counters: Mapping[str, int], slots: Slots, word: str | None) -> bool:
    """Return whether a test of a guard is true (I17). `word` is None at a node without a task."""
    match test:
        case OutcomeTest(wanted):
            return word == wanted
        case SlotTest(slot, operator, wanted):
            return ((slots[slot] or "") == wanted) == (operator == "==")
        case CounterTest(register, operator, value):
            number = counters[register]
            if operator == "=":
                return number == value
            return number < value if operator == "<" else number >= value
        case _:
            assert_never(test)


def slots_after(slots: Slots, effects: Iterable[Effect], outcome: Outcome | None) -> Slots:
    """Return the slots after effects, applied in order (I19). `outcome` is None at a node without a task."""
    effects = tuple(effects)
    if len(counter_effects(effects)) == len(effects):
        return slots
    changed = slots.copy()
    for effect in effects:
        if isinstance(effect, Clear):
            changed[effect.slot] = None
        elif isinstance(effect, Keep) and outcome is not None:
            changed[effect.slot] = _kept(effect, outcome, changed[effect.slot])
    return MappingProxyType(changed)


def _kept(effect: Keep, outcome: Outcome, before: str | None) -> str | None:
    if effect.of == "output":
        return dict(outcome.values).get(effect.name, before)
    if effect.extract is None:
        return outcome.text
    found = field_of(outcome.text, effect.extract)
    return outcome.text if found is None else found
