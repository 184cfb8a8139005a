"""A case: a program as JSON, its inputs, and what is replied to each call; and the path that must come of it.

All is plain JSON, so that a case is a file. Bytes that are no UTF-8 stand as `surrogateescape` has them. For each step
there is a list of replies, one for each visit; the last one goes on forever. They look so, by the kind of the task:

    shell     {"exit": 0, "says": "printed", "output": "written to RDC_OUTPUT" or null}
    agent     {"exit": 0, "answer": "printed"}, so do tools
    parallel  {"entries": [one for each agent]}
    ask       {"reply": true}; a number for a select, a text for an input
    gate      {"reply": true}

Where the step has a timeout, a reply may be `{"hangs": true}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]
NOWHERE = "nowhere"
"""A connection that no command is named for: only optional tools have it."""

SUFFIXES = {
    "markdown": "md",
    "json": "json",
    "chartjs": "json",
    "mermaid": "mmd",
    "html_css": "html",
    "javascript": "js",
    "typescript": "ts",
}
"""What the file of a run is called by its type (I28)."""

FOUND = Path(__file__).parent / "found"


@dataclass(frozen=True)
class Case:
    """Something to compare targets on."""

    program: Json
    inputs: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, list[Json]] = field(default_factory=dict)

    def reply(self, step: str, number: int) -> Json:
        """The reply to a visit of a step, counted from 0."""
        replies = self.replies[step]
        return replies[min(number, len(replies) - 1)]

    @property
    def text(self) -> str:
        """The JSON of the program."""
        return json.dumps(self.program, indent=1, ensure_ascii=False)

    def write(self, path: Path) -> None:
        """Keep the case as a file."""
        whole = {"program": self.program, "inputs": dict(self.inputs), "replies": dict(self.replies)}
        path.write_text(json.dumps(whole, indent=1) + "\n", encoding="ascii")

    @classmethod
    def read(cls, path: Path) -> Case:
        """The case of a file."""
        whole = json.loads(path.read_text(encoding="ascii"))
        return cls(whole["program"], whole["inputs"], whole["replies"])

    def __repr__(self) -> str:
        """The case as JSON, for the report of a failing test."""
        return f"\n{self.text}\ninputs {json.dumps(dict(self.inputs))}\nreplies {json.dumps(dict(self.replies))}\n"


@dataclass(frozen=True)
class Call:
    """What a command, an agent or a tool is given when it is called.

    `given` is what stands on its standard input, `arguments` are those of a command; `variables` are those of the
    node's, `keeps` says whether RDC_OUTPUT names a file. `callee` is the agent type or the connection, `entry` the
    index in a parallel step.
    """

    step: str
    attempt: int
    given: str = ""
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    keeps: bool = False
    callee: str | None = None
    entry: int | None = None


@dataclass(frozen=True)
class Question:
    """What a person is asked, and the reply."""

    prompt: str
    reply: str
    block: str | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Visit:
    """One time that a task is done: what the registers held before (empty if not known), what it sent, its outcome."""

    step: str
    attempt: int
    calls: tuple[Call, ...]
    question: Question | None
    word: str
    text: str
    values: Mapping[str, str]
    before: Mapping[str, int | str | None]


@dataclass(frozen=True)
class Trace:
    """The visits, the end and its message, and the registers then; `end` is None where a path was cut off."""

    visits: tuple[Visit, ...]
    end: tuple[str, str] | None
    held: Mapping[str, int | str | None] = field(default_factory=dict)

    def pauses(self, program: Json) -> list[int]:
        """How many seconds a run waits before each visit (I22)."""
        settings = {node["id"]: node.get("settings", {}) for node in program["nodes"]}
        found = [(settings[visit.step], visit.attempt) for visit in self.visits]
        return [each.get("delay", 0) * each.get("backoff", 1) ** (n - 2) if n > 1 else 0 for each, n in found]

    def __str__(self) -> str:
        """The walk on a line."""
        visits = [f"{visit.step}#{visit.attempt}={visit.word}" for visit in self.visits]
        return " ".join([*visits, "=>", *(self.end or ("cut off",))])
