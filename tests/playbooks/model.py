"""A playbook as plain data, from which its document is written; nothing of rdc stands behind it.

A text is a row of strings and names: a name is written as a placeholder. Each has at least one part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.programs.cases import Json


@dataclass(frozen=True)
class Name:
    """A placeholder, with a type and a default if it has these (P9)."""

    name: str
    type: str | None = None
    default: str | None = None

    def __str__(self) -> str:
        """As it stands in the document."""
        return "{{" + ":".join(part for part in (self.name, self.type, self.default) if part is not None) + "}}"


Row = tuple[str | Name, ...]


@dataclass(frozen=True)
class Input:
    name: str
    type: str = "text"
    default: str | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Output:
    name: str
    type: str = ""
    options: tuple[str, ...] = ()
    extract: str = ""


@dataclass(frozen=True)
class Elicit:
    kind: str
    question: Row
    options: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """`scheme` is file, library, mcp, variable, or one that nobody knows."""

    scheme: str
    id: str


@dataclass(frozen=True)
class Tool:
    """The arguments by their names, None for none at all."""

    connection: str
    tool: str
    arguments: tuple[tuple[str, Row], ...] | None = None


@dataclass(frozen=True)
class Branch:
    """`condition` is a name, an operator and a text; None for else."""

    condition: tuple[str, str, str] | None
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Step:
    """`label` is "" for the unnamed step of a branch."""

    label: str
    title: str = ""
    content: Row = ()
    output: Output | None = None
    elicit: Elicit | None = None
    prompt: Prompt | None = None
    tool: Tool | None = None
    branches: tuple[Branch, ...] = ()

    @property
    def number(self) -> str:
        """The number of the step."""
        return self.label.rstrip("abcdefgh")


@dataclass(frozen=True)
class Book:
    steps: tuple[Step, ...]
    inputs: tuple[Input, ...] = ()
    system: Row = ()
    artifact: str = ""
    files: Mapping[str, Row] = field(default_factory=dict)

    @property
    def every_step(self) -> Iterator[Step]:
        """All steps in document order."""
        for step in self.steps:
            yield step
            for branch in step.branches:
                yield from branch.steps


@dataclass(frozen=True)
class Told:
    """A playbook with what is given to a run of it, and what comes of each call and question, by step.

    A call is told by `{"exit": 0, "answer": "printed"}`, a question by `{"reply": …}`: true or false, a number for a
    select, a text for an input. What is not there is an answer of nobody in particular.
    """

    book: Book
    inputs: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, Json] = field(default_factory=dict)
