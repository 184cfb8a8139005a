"""The units of a program as the arms of a `case` in POSIX sh: what each does, and what follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

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
    counter_tests,
    may_follow,
)
from compiler.ir.program import Node, Program, Register, scope_members
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Tool, Verdict

_OPERATORS = {"<": "-lt", ">=": "-ge", "=": "-eq"}
_INDENT = "  "


@dataclass(frozen=True)
class Arms:
    """Writes the arms of a program. `nodes` and `counters` are identifiers for its nodes and registers."""

    program: Program
    nodes: Mapping[str, str]
    counters: Mapping[str, str]

    def tasks(self) -> Iterator[str]:
        """For each place of the walk what is done there."""
        for node in self.program.nodes:
            name = self.nodes[node.id]
            match node.task:
                case Shell(interpreter):
                    yield f"{name}) run {interpreter} {self._numbers(node)} ;;"
                case Ask(question):
                    words = "yes no" if question == "yes_no" else "pass fail"
                    yield f"{name}) ask {words} {self._numbers(node)} ;;"
                case End(result):
                    if not node.edges:
                        yield f"{name}) finish {result.upper()} ;;"
                case Branch():
                    pass  # there is nothing to do, only a way to choose
                case Agent() | Tool() | Parallel() | Gate():
                    raise ValueError(f"a task of the kind {node.task.kind} cannot be expressed")
                case _:
                    assert_never(node.task)

    def ways(self) -> Iterator[str]:
        """For each place of the walk what follows."""
        for node in self.program.nodes:
            if not node.edges:
                continue
            yield f"{self.nodes[node.id]})"
            if isinstance(node.task, Shell | Ask):
                yield from (_INDENT + line for line in self._by_outcome(node))
            else:
                yield from (_INDENT + line for line in self._choice(node.edges))
            yield f"{_INDENT};;"

    def _numbers(self, node: Node) -> str:
        """The attempt and the numbers of the instances, each as an argument (M4)."""
        attempt = f'"$(({self.counters[node.retries]} + 1))"' if node.retries else "1"
        shown = {item.name: f'"${self.counters[item.register]}"' for item in node.variables}
        numbers = [shown.get(name, '""') for name in ("RDC_STEP_INSTANCE", "RDC_SUBSTEP_INSTANCE")]
        return " ".join([attempt, *numbers])

    def _by_outcome(self, node: Node) -> Iterator[str]:
        ways = {verdict: [edge for edge in node.edges if may_follow(edge, verdict)] for verdict in Verdict}
        if ways[Verdict.PASS] == ways[Verdict.FAIL]:
            yield from self._choice(ways[Verdict.PASS])
            return
        yield "case $rdc_outcome in"
        for verdict, edges in ways.items():
            yield f"{_INDENT}{verdict.value})"
            yield from (_INDENT * 2 + line for line in self._choice(edges))
            yield f"{_INDENT * 2};;"
        yield "esac"

    def _choice(self, edges: Iterable[Edge]) -> Iterator[str]:
        """The lines that take the first edge whose counters are as its guard says."""
        word = "if"
        for edge in edges:
            tests = counter_tests(edge)
            if not tests:
                yield from self._last(word, edge)
                return
            condition = " && ".join(self._test(test) for test in tests)
            yield f"{word} {condition}; then"
            yield from (_INDENT + line for line in self._way(edge))
            word = "elif"
        yield "fi"

    def _last(self, word: str, edge: Edge) -> Iterator[str]:
        if word == "if":
            yield from self._way(edge)
            return
        yield "else"
        yield from (_INDENT + line for line in self._way(edge))
        yield "fi"

    def _test(self, test: CounterTest) -> str:
        return f'[ "${self.counters[test.register]}" {_OPERATORS[test.operator]} {test.value} ]'

    def _way(self, edge: Edge) -> list[str]:
        lines = [line for effect in edge.effects for line in self._effect(effect)]
        return [*lines, f"rdc_unit={self.nodes[edge.target]}"]

    def _effect(self, effect: Effect) -> list[str]:
        match effect:
            case Reset(scope):
                members = self._members.get(scope, ())
                return [f"{self.counters[register.name]}={register.initial}" for register in members]
            case Set(register, value):
                return [f"{self.counters[register]}={value}"]
            case Add(register, amount):
                name = self.counters[register]
                return [f"{name}=$(({name} + {self.counters[amount] if isinstance(amount, str) else amount}))"]
            case AtLeast(register, value):
                name = self.counters[register]
                return [f'[ "${name}" -ge {value} ] || {name}={value}']
            case Keep() | Clear():
                raise ValueError(f"an effect of the kind {effect.kind} cannot be expressed")
            case _:
                assert_never(effect)

    @cached_property
    def _members(self) -> dict[str, tuple[Register, ...]]:
        return scope_members(self.program.registers)
