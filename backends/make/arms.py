"""The units of a program as the arms of a `case` in POSIX sh: what each does, and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from backends.shell.dialects import POSIX
from backends.shell.registers import Registers
from backends.shell.ways import INDENT, Ways
from compiler.ir.edges import Edge
from compiler.ir.program import Node, Program, scope_members
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Tool


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
            yield from (INDENT + line for line in self._ways.lines(node))
            yield f"{INDENT};;"

    def _numbers(self, node: Node) -> str:
        """The attempt and the numbers of the instances, each as an argument (M4)."""
        attempt = f'"$(({self.counters[node.retries]} + 1))"' if node.retries else "1"
        shown = {item.name: f'"${self.counters[item.register]}"' for item in node.variables}
        numbers = [shown.get(name, '""') for name in ("RDC_STEP_INSTANCE", "RDC_SUBSTEP_INSTANCE")]
        return " ".join([attempt, *numbers])

    def _way(self, edge: Edge) -> list[str]:
        return [*self._registers.done(edge.effects), f"rdc_unit={self.nodes[edge.target]}"]

    @cached_property
    def _ways(self) -> Ways:
        return Ways(self._registers, self._way, {})

    @cached_property
    def _registers(self) -> Registers:
        return Registers(scope_members(self.program.registers), self.counters, self.counters.keys(), POSIX)
