"""Programs with texts, replies, calls, gates and inputs, and Makefiles of them in folders of their own."""

import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compiler.ir.edges import Edge, Effect, Origin, OutcomeTest, Test
from compiler.ir.program import Node, Program, Slot, SourceFile
from compiler.ir.tasks import Agent, Ask, End, Gate, Shell, Task, alphabet
from compiler.ir.texts import Part, Reference, Text, joined, text
from compiler.ir.verify import issues
from compiler.text.source import Span
from tests.support.makefiles import lay, run

AT = Origin("main.json", Span(1, 1, 1, 1))


def ref(register: str, **fields: str) -> Reference:
    """A reference."""
    return Reference(register, f"{{{register}}}", **fields)


def words(*parts: Part) -> Text:
    """A text."""
    return joined(parts)


def when(word: str, target: str, *effects: Effect, tests: Sequence[Test] = ()) -> Edge:
    """An edge for a word."""
    return Edge((OutcomeTest(word), *tests), effects, target)


def always(target: str, *effects: Effect, tests: Sequence[Test] = ()) -> Edge:
    """An edge for any outcome."""
    return Edge(tuple(tests), effects, target)


def node(name: str, task: Task, *edges: Edge, **fields: Any) -> Node:
    """A node; without edges, it goes to the end by its words: `stop` for fail, failed and rejected, else `done`."""
    if not edges and not isinstance(task, End):
        bad = {"fail", "failed", "rejected", "no", "none", "invalid", "ambiguous"}
        edges = tuple(when(word, "stop" if word in bad else "done") for word in alphabet(task))
    return Node(name, fields.pop("title", text("")), AT, task, edges, **fields)


def shell(command: str | Text, interpreter: Any = "sh") -> Shell:
    """A command."""
    return Shell(interpreter, text(command) if isinstance(command, str) else command)


def ask(question: Any, *options: Text, prompt: Text | str = "?") -> Ask:
    """A question."""
    return Ask(question, text(prompt) if isinstance(prompt, str) else prompt, options=options)


def agent(prompt: Text | str, kind: str = "", **fields: Any) -> Agent:
    """A call of an agent."""
    return Agent(kind, text(prompt) if isinstance(prompt, str) else prompt, **fields)


def gate(reason: str = "") -> Gate:
    """A gate."""
    return Gate("gate", text(reason))


def program(*nodes: Node, message: Text | str = "", **fields: Any) -> Program:
    """A program of some nodes and the ends `done`, with a message, and `stop`; it is valid."""
    shown = text(message) if isinstance(message, str) else message
    ends = (node("done", End("complete", shown)), node("stop", End("stop")))
    fields["slots"] = tuple(fields.get("slots", ()))
    whole = Program("main", "Main", (SourceFile("main.json", "0" * 64),), nodes[0].id, (*nodes, *ends), **fields)
    assert issues(whole) == []
    return whole


def slots(*names: str) -> tuple[Slot, ...]:
    """Slots that are unset."""
    return tuple(Slot(name) for name in names)


class Made:
    """A folder with the Makefile of a program."""

    def __init__(self, folder: Path, whole: Program, **options: str) -> None:
        self.folder = folder
        self._calls = lay(folder, whole, **options)

    def make(self, *given: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
        """Run make to its end."""
        done: subprocess.CompletedProcess[bytes] = run(self.folder, given, variables)
        return done

    def end(self, *given: str, **variables: str) -> str:
        """Run make; the last line on standard output."""
        done = self.make(*given, **variables)
        return (done.stdout.decode().splitlines() or [""])[-1] or done.stderr.decode()

    def script(self, name: str, text_of_it: str) -> str:
        """An executable in the folder; its path."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text_of_it}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def read(self, name: str) -> bytes:
        """What is in a file of the folder, nothing if there is none."""
        path = self.folder / name
        return path.read_bytes() if path.exists() else b""

    @property
    def state(self) -> Path:
        """The folder of the run."""
        return self.folder / ".rdc" / ("main" if self._calls else "main.make")
