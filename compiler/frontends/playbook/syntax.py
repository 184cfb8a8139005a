"""The syntax tree of a playbook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from compiler.text.source import Span

Question = Literal["input", "confirm", "select"]
InputType = Literal["string", "text", "number", "boolean", "enum"]


class Input(Struct, frozen=True):
    """A line of INPUTS (P7). `written` is the type as written; only an `enum` has options."""

    name: str
    type: InputType
    written: str
    description: str
    default: str | None
    options: tuple[str, ...]
    span: Span

    @property
    def required(self) -> bool:
        """Whether a run needs a value, because there is no default."""
        return self.default is None


class Output(Struct, frozen=True):
    """`@output(name: type, "option", extract:"field")`; type and options are guidance, never enforced."""

    name: str
    type: str
    options: tuple[str, ...]
    extract: str
    span: Span


class Elicit(Struct, frozen=True):
    """`@elicit(kind, "question", "option")`."""

    kind: Question
    question: str
    options: tuple[str, ...]
    span: Span


class PromptRef(Struct, frozen=True):
    """`@prompt(scheme:id)`, or `@prompt(id)` with the scheme `library`; `written` is all in the parentheses."""

    scheme: str
    id: str
    span: Span
    written: str = ""


class ToolCall(Struct, frozen=True):
    """`@tool(connection, tool, {json})`; the arguments are as written, or ""."""

    connection: str
    tool: str
    arguments: str
    span: Span


class Condition(Struct, frozen=True):
    """`name == "text"` in a branch marker."""

    variable: str
    operator: Literal["==", "!="]
    value: str
    span: Span


class Branch(Struct, frozen=True):
    """The sub-steps of the marker at `span`, or one unnamed step; `condition` is None for `else`."""

    condition: Condition | None
    steps: tuple[Step, ...]
    span: Span


class Step(Struct, frozen=True):
    """`## STEP n: Title`, a sub-step of a branch, or the unnamed step of a branch (P4).

    `label` is `2`, `2a`, or "" for an unnamed step. `lines` are all line numbers of the content, which may have
    directives in between. The span is the heading, or the marker of an unnamed step.
    """

    number: int
    label: str
    title: str
    content: str
    span: Span
    output: Output | None = None
    elicit: Elicit | None = None
    prompt: PromptRef | None = None
    tool: ToolCall | None = None
    branches: tuple[Branch, ...] = ()
    lines: tuple[int, ...] = ()


class Artifact(Struct, frozen=True):
    """`type: …` under ARTIFACTS (P15): a name or `{{variable}}`."""

    type: str
    span: Span


class Playbook(Struct, frozen=True):
    """A whole document. `system` is trimmed, or "" without one (P2).

    `system_span` covers all lines of the system text, and `span` is the place of the title.
    """

    title: str
    description: str
    system: str
    system_span: Span | None
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    artifact: Artifact | None
    span: Span


def every_step(playbook: Playbook) -> Iterator[Step]:
    """Yield every step in document order, with the sub-steps of its branches after it."""
    for step in playbook.steps:
        yield step
        for branch in step.branches:
            yield from branch.steps
