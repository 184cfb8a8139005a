"""An agent workflow as plain data, from which its document is written; nothing of rdc stands behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.programs.cases import Json


@dataclass(frozen=True)
class Report:
    """A report; `phrases` is all that the validation pattern can match, None where that is no short list."""

    name: str
    format: str
    validation: str | None = None
    phrases: tuple[str, ...] | None = ()


@dataclass(frozen=True)
class Step:
    """A step; `entries` have an agent and a prompt each, and stand in the place of the step's own."""

    name: str
    prompt: str = "Do it."
    agent: str = ""
    entries: tuple[tuple[str, str], ...] = ()
    check: str = "all"
    report: Report | None = None
    human: bool = False
    next: str = ""
    end: bool = False
    conditions: tuple[tuple[str, str], ...] = ()
    """Keywords, and the steps that they lead to."""


@dataclass(frozen=True)
class Flow:
    steps: tuple[Step, ...]
    name: str = "a workflow"
    description: str | None = None
    max_steps: int | None = None

    @property
    def limit(self) -> int | None:
        """How many steps a run may take (W14)."""
        if self.max_steps is not None:
            return self.max_steps or None
        return max(10, 3 * len(self.steps))


@dataclass(frozen=True)
class Told:
    """A workflow with the task of a run, and what comes of each visit of a step and a gate, by step.

    An answer is `{"exit": 0, "answer": "printed"}`, of a parallel step `{"entries": [one for each]}`, of a gate
    `{"reply": true}`; the last one goes on forever.
    """

    flow: Flow
    task: str | None = None
    replies: Mapping[str, list[Json]] = field(default_factory=dict)
