"""The names of the stages of a step (I32)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compiler.frontends.stepspec.syntax import Document, StepSpec

STAGES = ("inputs", "context", "guardrails", "validation", "outputs", "failed", "rejected")
"""The parts of a step that are not tools, and how it may end badly."""


class Called(Struct, frozen=True):
    """What a workflow is called, and its file."""

    stem: str
    module: str
    workflow: str

    def gate(self, step: str) -> str:
        """The gate of a step."""
        return f"{self.module}:{self.workflow}:{step}:hitl"


def called(document: Document, stem: str) -> Called:
    """What the workflow of a document is called; the stem of its file stands for what it does not say."""
    about = document.workflow
    return Called(stem, (about and about.module) or stem, (about and about.workflow) or stem)


def part(step: str, name: str) -> str:
    """The id of a stage of a step."""
    return f"{step}/{name}"


def tool_stages(step: StepSpec) -> Iterator[str]:
    """The stages that call the tools of a step, in order; a name that is taken has a number behind it."""
    taken = set(STAGES)
    for call in step.tools or ():
        name, number = call.name, 1
        while name.casefold() in taken:
            number += 1
            name = f"{call.name}~{number}"
        taken.add(name.casefold())
        yield part(step.id, name)


def stages(step: StepSpec) -> Iterator[str]:
    """All stages that a step may have, gates aside."""
    yield step.id
    yield from (part(step.id, name) for name in STAGES)
    yield from tool_stages(step)
