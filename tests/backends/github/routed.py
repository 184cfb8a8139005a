"""Programs made by hand for the workflow target: every task, test and effect."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backends.base import Companion
from backends.github import GithubBackend
from compiler.ir.edges import Clear, Edge, Effect, Keep, Origin, OutcomeTest, SlotTest, Test
from compiler.ir.program import Counter, Input, Node, Program, Settings, Slot, SourceFile, Variable
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Reading, Shell, Task, Tool
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
    """A node of the document."""
    return Node(name, text(title or f"Step {name}"), ORIGIN, task, edges, **other)


def ref(register: str, missing: str = "", before: str = "", after: str = "") -> Reference:
    """A reference that its author wrote in braces."""
    return Reference(register, f"{{{{{register}}}}}", missing, before, after)


def words(*parts: str | Reference) -> Text:
    """A text."""
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


class Workflow(str):
    """A workflow and the files that its steps call."""

    __slots__ = ("files",)
    files: tuple[Companion, ...]

    def put_into(self, repository: Path) -> None:
        """Write these files into a repository."""
        for file in self.files:
            path = Path(os.path.normpath(repository / ".github" / "workflows" / file.path))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8")


INLINE: Mapping[str, object] = {"checkout": False, "runtime": "inline"}
"""The options of a workflow that has its program in itself."""


def compiled(made: Program, options: Mapping[str, object] | None = None) -> Workflow:
    """The workflow of a program."""
    found = GithubBackend().emit(made, options or {})
    assert found.text, found.diagnostics
    workflow = Workflow(found.text)
    workflow.files = found.companions
    return workflow


__all__ = [
    "COMPLETE",
    "INLINE",
    "STOP",
    "Agent",
    "Ask",
    "Branch",
    "Clear",
    "Counter",
    "End",
    "Gate",
    "Input",
    "Keep",
    "Parallel",
    "Reading",
    "Settings",
    "Shell",
    "SlotTest",
    "Tool",
    "Variable",
    "Workflow",
    "compiled",
    "node",
    "program",
    "ref",
    "text",
    "to",
    "words",
]
