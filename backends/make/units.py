"""The units of a program with texts, replies, calls or gates as the arms of a `case` in POSIX sh: what each does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from backends.make.names import Names
from backends.shell.ways import INDENT
from compiler.ir.edges import value_names
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Tool, alphabet, no_answer


@dataclass(frozen=True, slots=True)
class Units:
    """Writes the arms. `has_timeouts` says whether some command has a time limit."""

    program: Program
    names: Names
    has_timeouts: bool

    def tasks(self) -> Iterator[str]:
        """For each place of the walk what is done there."""
        for node in self.program.nodes:
            name = self.names.nodes[node.id]
            if isinstance(node.task, End):
                if not node.edges:
                    yield f"{name}) finish {node.task.result.upper()} ;;"
                continue
            lines = list(self._unit(node))
            if lines:
                yield f"{name})"
                yield from (INDENT + line for line in lines)
                yield f"{INDENT};;"

    def _unit(self, node: Node) -> Iterator[str]:
        """The lines that do the task of a node."""
        words = f"rdc_words='{' '.join(self.names.tokens.get(word, word) for word in alphabet(node.task))}'"
        match node.task:
            case Shell(interpreter):
                values = " ".join(value_names(node.edges))
                timeout = f" rdc_timeout={node.settings.timeout or 0}" if self.has_timeouts else ""
                yield f"rdc_kind=run {words} rdc_names='{values}'{timeout}"
                yield from self._begin(node)
                yield f"run {interpreter}"
            case Ask(question):
                yield f"rdc_kind={question} {words}"
                yield from self._begin(node)
                yield "ask"
            case Gate():
                yield f"rdc_kind=gate {words}"
                yield from self._begin(node)
                yield "ask"
            case Agent() | Parallel() | Tool():
                entries = " ".join(entries_of(node.task))
                yield f"rdc_kind=call {words} rdc_none={no_answer(node.task)} rdc_entries='{entries}'"
                yield from self._begin(node)
                yield "call tool" if isinstance(node.task, Tool) else "call agents"
            case Branch() | End():
                pass  # there is nothing to do, only a way to choose
            case _:
                assert_never(node.task)

    def _begin(self, node: Node) -> Iterator[str]:
        if node.variables:
            yield f'rdc_variables="{" ".join(self._variable(item.name, item.register) for item in node.variables)}"'
        yield f"about {self.names.files[node.id]} {self._attempt(node)}"

    def _variable(self, name: str, register: str) -> str:
        slot = self.names.slots.get(register)
        return f"{name}={slot}:${slot}" if slot else f"{name}=:${self.names.counters[register]}"

    def _attempt(self, node: Node) -> str:
        return f'"$(({self.names.counters[node.retries]} + 1))"' if node.retries else "1"

    def delays(self) -> Iterator[str]:
        """For each unit with a delay the call that waits."""
        for node in self.program.nodes:
            if node.settings.delay and node.retries:
                waits = f"wait_before {self._attempt(node)} {node.settings.delay} {node.settings.backoff}"
                yield f"{self.names.nodes[node.id]}) {waits} ;;"


def entries_of(task: Agent | Parallel | Tool) -> tuple[str, ...]:
    """What is behind the name of a unit for each prompt that it sends; `-` is nothing."""
    match task:
        case Parallel(entries):
            return tuple(f"_{index}" for index, _ in enumerate(entries))
        case Agent():
            return ("-",)
        case Tool():
            return ()
        case _:
            assert_never(task)
