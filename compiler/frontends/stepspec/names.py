"""The names of a step's stages (I32)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compiler.frontends.stepspec.syntax import Document, StepSpec

STAGES = ("inputs", "context", "guardrails", "validation", "outputs", "failed", "rejected")
"""Stages that are not tools, and the two ends of a failed step."""


class Called(Struct, frozen=True):
    """The names of a workflow and its module, and the stem of its file."""

    stem: str
    module: str
    workflow: str

    def gate(self, step: str) -> str:
        """Return the name of a step's gate."""
        return f"{self.module}:{self.workflow}:{step}:hitl"


def called(document: Document, stem: str) -> Called:
    """Return the names of a document's workflow. The stem of the file replaces missing ones."""
    about = document.workflow
    return Called(stem, (about and about.module) or stem, (about and about.workflow) or stem)


def part(step: str, name: str) -> str:
    """Return the id of a stage of a step."""
    return f"{step}/{name}"


def tool_stages(step: StepSpec) -> Iterator[str]:
    """Yield the stages that call a step's tools, in order. Duplicate names get a number."""
    taken = set(STAGES)
    for call in step.tools or ():
        name, number = call.name, 1
        while name.casefold() in taken:
            number += 1
            name = f"{call.name}~{number}"
        taken.add(name.casefold())
        yield part(step.id, name)


def stages(step: StepSpec) -> Iterator[str]:
    """Yield all stages that a step can have, without gates."""
    yield step.id
    yield from (part(step.id, name) for name in STAGES)
    yield from tool_stages(step)
