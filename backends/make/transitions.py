"""Where a run goes from a step, in words that read like the document: the text of `after_` blocks.

What an author wrote is in capitals (`GOTO Restore`), a default is not (`go 2`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from backends.make.blocks import Words
from backends.make.identifiers import Identifiers
from backends.make.texts import visible
from backends.marks import Marks
from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    CounterTest,
    Edge,
    Effect,
    Keep,
    Reset,
    Set,
    SlotTest,
    may_follow,
    register_tests,
)
from compiler.ir.program import Node, Program, Register, scope_members, texts_of
from compiler.ir.tasks import End, alphabet

_OPERATORS = {"<": "below", ">=": "at_least", "=": "equals"}
_Transition = tuple[str, list[str]]
"""What a transition asks for ("" for nothing), and the words that take it."""


@dataclass(frozen=True)
class Transitions:
    """Writes the transitions of a program. `own` has the counter of each step that counts its own retries alone."""

    program: Program
    names: Identifiers
    words: Words
    own: Mapping[str, str]

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by their ids."""
        return self.program.index()

    @cached_property
    def scopes(self) -> Mapping[str, tuple[Register, ...]]:
        """The counters that a reset of each scope touches, those aside that the driver has no need of."""
        hidden = set(self.own.values())
        members = scope_members(self.program.registers)
        return {scope: tuple(one for one in found if one.name not in hidden) for scope, found in members.items()}

    def text(self, node: Node, marks: Marks) -> str:
        """The text of the block of a node."""
        words = alphabet(node.task)
        if not words:
            return "\n".join(self._arm(node, ["*"], node.edges, marks))
        transitions: dict[tuple[Edge, ...], list[str]] = {}
        for word in words:
            edges = tuple(edge for edge in node.edges if may_follow(edge, word))
            transitions.setdefault(edges, []).append(self.names.tokens.get(word, word))
        return "\n".join(line for edges, said in transitions.items() for line in self._arm(node, said, edges, marks))

    def _arm(self, node: Node, said: list[str], edges: Sequence[Edge], marks: Marks) -> Iterator[str]:
        pattern = " | ".join(said)
        first, *others = self._choice(node, edges, marks)
        lines = [f"{pattern}) {first}", *(f"{' ' * (len(pattern) + 2)}{line}" for line in others)]
        yield from lines[:-1]
        yield f"{lines[-1]} ;;"

    def _choice(self, node: Node, edges: Sequence[Edge], marks: Marks) -> list[str]:
        """The lines that take the first edge whose registers are as its guard says; the last one needs no test (I2)."""
        if not edges:
            return [self._end(node.task, marks, "")] if isinstance(node.task, End) else []
        transitions = self._transitions(node, edges, marks)
        if len(transitions) == 1:
            return ["; ".join(transitions[0][1])]
        if len(transitions) == 2 and transitions[0][1] == [""] and len(transitions[1][1]) == 1:
            return [f"{transitions[0][0]} || {transitions[1][1][0]}"]
        lines: list[str] = []
        for index, (asked, done) in enumerate(transitions):
            word = "else" if index == len(transitions) - 1 else f"{'elif' if index else 'if'} {asked}; then"
            lines.append(f"{word} {'; '.join(done) if done != [''] else ':'}")
        return [*lines[:-1], f"{lines[-1]}; fi"]

    def _transitions(self, node: Node, edges: Sequence[Edge], marks: Marks) -> list[_Transition]:
        """The edges up to one that always holds; neighbours that lead to the same place are joined."""
        found: list[_Transition] = []
        for edge in edges:
            limit = retries_of(edge, self.own.get(node.id, ""))
            asked = self._retry(limit, edge.label) if limit is not None else self._asked(edge)
            done = [""] if limit is not None else self._done(node, edge, marks)
            if found and found[-1][0] and asked and found[-1][1] == done and "&&" not in found[-1][0] + asked:
                found[-1] = (f"{found[-1][0]} || {asked}", done)
            else:
                found.append((asked, done))
            if not asked:
                break
        return found

    def _retry(self, limit: int, label: str) -> str:
        return f"retry {limit}" if label == f"RETRY {limit}" else f"retry {limit} {self._said(label)}"

    def _asked(self, edge: Edge) -> str:
        return " && ".join(self._test(test) for test in register_tests(edge))

    def _test(self, test: CounterTest | SlotTest) -> str:
        if isinstance(test, CounterTest):
            return f"{_OPERATORS[test.operator]} {self.names.registers[test.register]} {test.value}"
        holds = f"holds {self.names.registers[test.slot]} {self.words.quoted(test.text)}"
        return holds if test.operator == "==" else f"! {holds}"

    def _done(self, node: Node, edge: Edge, marks: Marks) -> list[str]:
        target = self.nodes[edge.target]
        if isinstance(target.task, End) and not target.edges:
            transition = self._end(target.task, marks, edge.label)
        else:
            transition = self._go(self.names.nodes[edge.target], edge.label)
        return [*self.effects(edge.effects, self.own.get(node.id, "")), transition]

    def _go(self, name: str, label: str) -> str:
        if label == "CONTINUE":
            return f"CONTINUE {name}"
        for word, says in (("go", ""), ("GOTO", f"GOTO {name}"), ("to", f"to {name}")):
            if label == says:
                return f"{word} {name}"
        return f"go {name} {self._said(label)}"

    def _end(self, task: End, marks: Marks, label: str) -> str:
        message = visible(marks.text(task.message))
        said = f" {self.words.quoted(message)}" if message else ""
        word = {"complete": "finish", "stop": "stop"}[task.result]
        if not label:
            return f"{word}{said}"
        usual = task.result.upper()
        return f"{usual}{said}" if label == usual else f"{usual} {self.words.quoted(message)} {self._said(label)}"

    def _said(self, label: str) -> str:
        return self.words.quoted(visible(label))

    def effects(self, effects: Iterable[Effect], own: str = "") -> Iterator[str]:
        """The words of effects; `own` is the counter that a step counts its retries with alone."""
        for effect in effects:
            if effect == Set(own, 0) or (isinstance(effect, Reset) and not self.scopes.get(effect.scope)):
                continue
            yield self._effect(effect)

    def _effect(self, effect: Effect) -> str:
        registers = self.names.registers
        match effect:
            case Reset(scope):
                return f"reset {self.names.scopes[scope]}"
            case Set(register, value):
                return f"set_to {registers[register]} {value}"
            case Add(register, str(amount)):
                return f"add_counter {registers[register]} {registers[amount]}"
            case Add(register, amount):
                return f"add {registers[register]} {amount}"
            case AtLeast(register, value):
                return f"raise {registers[register]} {value}"
            case Keep():
                return self._keep(effect)
            case Clear(slot):
                return f"clear {registers[slot]}"
            case _:
                assert_never(effect)

    def _keep(self, effect: Keep) -> str:
        slot = self.names.registers[effect.slot]
        if effect.of == "output":
            return f"keep_value {slot} {effect.name}"
        if effect.extract is not None:
            return f"keep_field {slot} {self.words.quoted(effect.extract)}"
        return f"keep_answer {slot}"


def retries_of(edge: Edge, counter: str) -> int | None:
    """How many retries an edge allows that does nothing but try again, counted by a counter; None if it is another."""
    tests = register_tests(edge)
    if not counter or edge.effects != (Add(counter, 1),) or len(tests) != 1:
        return None
    test = tests[0]
    if isinstance(test, CounterTest) and test.register == counter and test.operator == "<":
        return test.value
    return None


def own_retries(program: Program) -> dict[str, str]:
    """The counters that count the retries of one step in one visit and nothing else (M9), by step.

    Such a one is 0 wherever the run stands elsewhere, so the driver counts the attempts at the step instead.
    """
    named = _named_elsewhere(program)
    initial = {register.name: register.initial for register in program.registers}
    members = {scope: {one.name for one in found} for scope, found in scope_members(program.registers).items()}
    ends = {node.id for node in program.nodes if not node.edges}
    return {
        node.id: node.retries
        for node in program.nodes
        if node.retries
        and initial[node.retries] == 0
        and named.get(node.retries, set()) <= {node.id}
        and all(_keeps_to_it(node, edge, node.retries, members, ends) for edge in node.edges)
    }


def _keeps_to_it(node: Node, edge: Edge, counter: str, members: Mapping[str, set[str]], ends: set[str]) -> bool:
    """Whether an edge tries the step again and counts that, or leaves it and forgets the count."""
    if retries_of(edge, counter) is not None:
        return edge.target == node.id
    if any(isinstance(test, CounterTest) and test.register == counter for test in edge.guard):
        return False
    if any(isinstance(effect, Add | AtLeast) and effect.register == counter for effect in edge.effects):
        return False
    forgets = any(
        effect == Set(counter, 0) or (isinstance(effect, Reset) and counter in members.get(effect.scope, ()))
        for effect in edge.effects
    )
    is_set = any(isinstance(effect, Set) and effect.register == counter and effect.value for effect in edge.effects)
    return (forgets and not is_set) or edge.target in ends


def _named_elsewhere(program: Program) -> dict[str, set[str]]:
    """For each counter the nodes that have a use for it; a text or a variable that shows it has one everywhere ("")."""
    found: dict[str, set[str]] = {}
    for node in program.nodes:
        for counter, where in _named(node):
            found.setdefault(counter, set()).add(where)
    for effect in (effect for jump in program.jumps for effect in jump.all_effects):
        if isinstance(effect, Add | AtLeast) or (isinstance(effect, Set) and effect.value):
            found.setdefault(effect.register, set()).add("")
    return found


def _named(node: Node) -> Iterator[tuple[str, str]]:
    if node.retries:
        yield node.retries, node.id
    yield from ((item.register, "") for item in node.variables)
    yield from ((item.register, "") for text in texts_of(node) for item in text.references)
    for edge in node.edges:
        yield from ((test.register, node.id) for test in edge.guard if isinstance(test, CounterTest))
        for effect in edge.effects:
            if isinstance(effect, Set | Add | AtLeast):
                yield effect.register, node.id
            if isinstance(effect, Add) and isinstance(effect.amount, str):
                yield effect.amount, ""
