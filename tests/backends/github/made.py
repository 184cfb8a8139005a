"""Programs made by hand for the workflow target."""

from collections.abc import Mapping, Sequence
from typing import Any

from compiler.ir.edges import Add, CounterTest, Edge, Effect, Origin, OutcomeTest, Test
from compiler.ir.program import Counter, Input, Node, Program, Slot, SourceFile
from compiler.ir.tasks import End, Shell, Task
from compiler.ir.texts import Reference, Text, joined, text
from compiler.ir.verify import verify
from compiler.text.source import Span

ORIGIN = Origin("a.playbook.md", Span(7, 1, 7, 2))

COMPLETE = "COMPLETE"
STOP = "STOP"


def to(target: str, *guard: Test | str, do: Sequence[Effect] = ()) -> Edge:
    """An edge; a word instead of a test asks for the outcome."""
    return Edge(tuple(OutcomeTest(test) if isinstance(test, str) else test for test in guard), tuple(do), target)


def node(name: str, task: Task, *edges: Edge, title: str = "", **other: Any) -> Node:
    return Node(name, text(title or f"Step {name}"), ORIGIN, task, edges, **other)


def sh(command: str) -> Shell:
    return Shell("sh", text(command))


def bash(command: str) -> Shell:
    return Shell("bash", text(command))


TRIES = Counter("tries", "", role="retries", of="1")
"""Counts what `retried` does again; the program has it."""


def retried(
    name: str, task: Task, most: int, back: str = "", words: Sequence[str] = ("pass", "fail"), **more: Any
) -> Node:
    """A step that is done again, or leads back to another one, at most so often after the first time."""
    again = to(back or name, words[1], CounterTest("tries", "<", most), do=[Add("tries", 1)])
    return node(name, task, to(COMPLETE, words[0]), again, to(STOP, words[1]), retries="tries", **more)


def ref(register: str, missing: str = "", before: str = "", after: str = "") -> Reference:
    return Reference(register, f"{{{{{register}}}}}", missing, before, after)


def words(*parts: str | Reference) -> Text:
    return joined(parts)


def program(
    *nodes: Node,
    slots: Mapping[str, str | None] | Sequence[str] = (),
    inputs: Sequence[Input] = (),
    counters: Sequence[Counter] = (),
    limit: int | None = None,
) -> Program:
    """A program that begins with the first node; the ends need not be given."""
    known = {item.id for item in nodes}
    initial = slots if isinstance(slots, Mapping) else dict.fromkeys(slots)
    ends = [
        node(name, End("complete" if name == COMPLETE else "stop", text("" if name == COMPLETE else "It failed.")))
        for name in (COMPLETE, STOP)
        if name not in known
    ]
    made = Program(
        "a",
        "A program",
        (SourceFile("a.playbook.md", "0" * 64),),
        nodes[0].id,
        (*nodes, *ends),
        counters=tuple(counters),
        slots=(*(Slot(name, value) for name, value in initial.items()), *(Slot(item.name) for item in inputs)),
        inputs=tuple(inputs),
        limit=limit,
    )
    verify(made)
    return made
