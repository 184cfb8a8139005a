"""Whether a workflow that calls the program has too many steps, which is known before any of them is written."""

from __future__ import annotations

from collections.abc import Iterator

from backends.github.calling.workflow import CallingWorkflow
from backends.github.limits import MOST_STEPS, with_too_many_steps
from backends.scheduling.jobs import Part
from compiler.diagnostic import Diagnostic


def too_many_steps(workflow: CallingWorkflow) -> Iterator[Diagnostic]:
    """The refusal of a workflow in which the document alone has more steps than GitHub shows of a job.

    To write them takes several times as long as all before. Nothing is said of the size, which only the text tells.
    """
    if any(len(part.own) > MOST_STEPS for part in workflow.cut.parts):
        yield from with_too_many_steps(workflow, (_count(workflow, part) for part in workflow.cut.parts))


def _count(workflow: CallingWorkflow, part: Part) -> int:
    """How many steps the job of a part has."""
    return len([*workflow.begins(part), *workflow.ends(part)]) + len(part.own)
