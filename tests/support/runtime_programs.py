"""Programs of the IR for the tests, compiled to one Python file each and run there."""

from pathlib import Path

from backends.python import PythonBackend
from backends.python.step_calls import author_calls
from compiler.ir.edges import Edge, Effect, Keep, Origin, OutcomeTest, Test, Written
from compiler.ir.program import Node, Program, Slot, SourceFile
from compiler.ir.tasks import Agent, End, Reading, Shell, Task
from compiler.ir.texts import Reference, Text, joined, text
from compiler.ir.verify import verify
from compiler.passes import optimize
from compiler.text.source import Span
from tests.support.process import Place

ORIGIN = Origin("deploy.json", Span(1, 1, 1, 2))


def edge(target: str, word: str | None = None, *effects: Effect, tests: tuple[Test, ...] = ()) -> Edge:
    """An edge for an outcome, or for all."""
    guard: tuple[Test, ...] = (OutcomeTest(word),) if word is not None else ()
    return Edge((*guard, *tests), effects, target, (Written(f"GOTO {target}"),))


def node(name: str, task: Task, *edges: Edge, **more: object) -> Node:
    """A node; without edges it goes to COMPLETE."""
    settings = {"title": text(f"Step {name}"), **more}
    return Node(id=name, origin=ORIGIN, task=task, edges=edges or (edge("COMPLETE"),), **settings)  # type: ignore[arg-type]


def sh(command: str) -> Shell:
    """A command of bash."""
    return Shell("bash", text(command))


def agent(prompt: str | Text, *keywords: str, kind: str = "", **more: object) -> Agent:
    """A call of an agent."""
    reading = Reading(keywords, **more)  # type: ignore[arg-type]
    return Agent(kind, text(prompt) if isinstance(prompt, str) else prompt, reading)


def slot(name: str, **more: str) -> Reference:
    """A reference to a slot."""
    return Reference(name, f"<{name}>", **more)


def of(*parts: str | Reference) -> Text:
    """A text of parts."""
    return joined(parts)


def stored(name: str) -> Keep:
    """The effect that keeps the text of the outcome."""
    return Keep(name)


def program(*nodes: Node, slots: tuple[str, ...] = (), message: Text | None = None, **more: object) -> Program:
    """A program of these nodes and two ends, verified."""
    ends = (
        Node("COMPLETE", Text(), ORIGIN, End("complete", message or text("all done")), ()),
        Node("STOP", Text(), ORIGIN, End("stop", text("gave up")), ()),
    )
    made = Program(
        "deploy", "Deploy", (SourceFile("deploy.json", "0"),), nodes[0].id, (*nodes, *ends),
        slots=tuple(Slot(name) for name in slots), **more,  # type: ignore[arg-type]
    )  # fmt: skip
    verify(made)
    return made


class Compiled(Place):
    """A directory with a program and the runtime that it needs.

    The runtime is imported, as by `rdc run`, which is a third of the work of a file that carries it; `bundle` makes
    that file.
    """

    def __init__(self, path: Path, made: Program) -> None:
        self.made = made
        self.table = author_calls(optimize(made)).built()
        super().__init__(path, self.table)

    def bundle(self, **options: str) -> None:
        """Put the Python file that the program becomes in its place."""
        emission = PythonBackend().emit(self.made, options)
        assert emission.text
        self.script.write_text(emission.text, encoding="utf-8")
        for companion in emission.companions:
            (self.script.parent / companion.path).write_text(companion.text, encoding="utf-8")
        self.script.chmod(0o755)

    def slots(self) -> dict[str, str | None]:
        """What the slots hold by the records of the journal."""
        first, *others = self.records()
        found = dict(first["registers"])
        for record in others:
            found.update(record.get("changed", {}))
        return {name: value for name, value in found.items() if not isinstance(value, int)}
