"""Programs made by hand for the workflow target, and runs of their workflows, whose agents a stub answers."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backends.base import Companion
from backends.github import GithubBackend
from compiler.ir.edges import Add, Clear, CounterTest, Edge, Effect, Keep, Origin, OutcomeTest, SlotTest, Test
from compiler.ir.program import Counter, Input, Node, Program, Slot, SourceFile, Variable
from compiler.ir.tasks import Agent, Branch, End, Gate, Parallel, Reading, Shell, Task, Tool
from compiler.ir.texts import Reference, Text, joined, text
from compiler.ir.verify import verify
from compiler.text.source import Span
from tests.support import actions_engine as engine

ORIGIN = Origin("a.playbook.md", Span(7, 1, 7, 2))

COMPLETE = "COMPLETE"
STOP = "STOP"


def to(target: str, *guard: Test | str, do: Sequence[Effect] = ()) -> Edge:
    """An edge; a word instead of a test asks for the outcome."""
    return Edge(tuple(OutcomeTest(test) if isinstance(test, str) else test for test in guard), tuple(do), target)


def node(name: str, task: Task, *edges: Edge, title: str = "", **other: Any) -> Node:
    return Node(name, text(title or f"Step {name}"), ORIGIN, task, edges, **other)


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


class Workflow(str):
    """A workflow and the files that its steps call."""

    __slots__ = ("files",)
    files: tuple[Companion, ...]

    def put_into(self, repository: Path) -> None:
        for file in self.files:
            path = Path(os.path.normpath(repository / ".github" / "workflows" / file.path))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8")


INLINE: Mapping[str, object] = {"checkout": False, "runtime": "inline"}
"""The options of a workflow that has its program in itself."""


def compiled(made: Program, options: Mapping[str, object] | None = None) -> Workflow:
    found = GithubBackend().emit(made, options or {})
    assert found.text, found.diagnostics
    workflow = Workflow(found.text)
    workflow.files = found.companions
    return workflow


AGENT = 'python3 -IS "$FOLDER/agent.py"'
OPTIONS = {"agent": AGENT, "tools": {"tracker": AGENT}}
HOSTILE = (
    "$(touch x)", "'; touch x; '", "`touch x`", "${{ github.token }}", "a\nnext=s9", "next<<E\ns9\nE",
    "::set-output name=next::s9", "::add-mask::a", "##[add-mask]a", "::stop-commands::a", "]]]",
    "\u202eright to left", "\x1b]0;title\x07", "{{issue}}", "<script>alert(1)</script> @everyone",
)  # fmt: skip


def run(
    folder: Path,
    workflow: str,
    answers: Mapping[str, object] | None = None,
    number: int = 1,
    repository: Path | None = None,
    **more: Any,
) -> engine.EngineRun:
    """Run a workflow whose agents answer by a list for each step, and note what they were given.

    What belongs to the stub is in the repository, or beside one that is given.
    """
    if answers is not None:
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    (folder / "agent.py").write_text(STUB, encoding="utf-8")
    env = {"FOLDER": str(folder), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    place = repository or folder / "repository"
    place.mkdir(exist_ok=True)
    if isinstance(workflow, Workflow):
        workflow.put_into(place)
    return engine.run(place, workflow, history=folder / "history", env=env, run_id=number, **more)


STUB = """
import json, os, sys
folder, step = os.environ["FOLDER"], os.environ["RDC_STEP"]
given = sys.stdin.buffer.read().decode()
with open(folder + "/log", "a") as log:
    log.write(json.dumps([step, given, dict(os.environ)]) + "\\n")
with open(folder + "/answers.json") as file:
    answers = json.load(file).get(step, ["done"])
with open(folder + "/calls_" + step, "a") as calls:
    calls.write(".")
    number = calls.tell() - 1
said = answers[min(number, len(answers) - 1)]
if said is None:
    sys.exit(3)
sys.stdout.buffer.write(said.encode("utf-8", "surrogatepass"))
"""


def log(folder: Path) -> list[list[Any]]:
    """What the agents were given: the step, the text, the environment."""
    path = folder / "log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def ended(done: engine.EngineRun) -> str:
    return str(re.findall(r"^rdc: (.*)$", done.log, re.MULTILINE)[-1])


def triage(**more: Any) -> Program:
    """An agent whose answer decides among branches, a command that gives a value, a tool, a parallel loop, a gate."""
    review = Reading(("OK", "BAD"))
    return program(
        node(
            "1",
            Agent("", words("Classify: ", ref("issue"))),
            to("2", "pass", do=[Keep("kind", extract="kind")]),
            to(STOP, "fail"),
        ),
        node("2", Branch(), to("2a", SlotTest("kind", "==", "bug")), to("2b")),
        node(
            "2a",
            Shell("bash", text('printf "%s" "$ISSUE" > "$FOLDER/issue"\necho "note=from 2a" >> "$RDC_OUTPUT"')),
            to("3", "pass", do=[Keep("note", "output", "note")]),
            to(STOP, "fail"),
            variables=(Variable("ISSUE", "issue"),),
        ),
        node("2b", Tool("tracker", "close", words('{"issue": "', ref("issue"), '"}')), to("3", do=[Keep("note")])),
        node(
            "3",
            Parallel((Agent("", words("A ", ref("note"))), Agent("", text("B")))),
            to("4", "pass", do=[Keep("said")]),
            to("3b", "fail"),
        ),
        node("3b", Agent("", text("Again"), review), to("3", "OK", do=[Clear("note")]), to(STOP)),
        node(
            "4", Gate("production", words("Sure about ", ref("kind"), "?")), to("5", "approved"), to(STOP, "rejected")
        ),
        node("5", Agent("", words("Publish ", ref("said"))), to(COMPLETE, "pass"), to(STOP, "fail")),
        slots=("kind", "note", "said"),
        inputs=(Input("issue", "text"),),
        **more,
    )
