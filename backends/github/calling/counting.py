"""Finds out whether a workflow that calls the program has too many steps, before it writes any of them."""

from __future__ import annotations

from collections.abc import Iterator

from backends.github.calling.workflow import CallingWorkflow
from backends.github.limits import MOST_STEPS, with_too_many_steps
from backends.scheduling.jobs import Part
from compiler.diagnostic import Diagnostic


def too_many_steps(workflow: CallingWorkflow) -> Iterator[Diagnostic]:
    """Report a workflow whose document has more steps than GitHub shows for a job.

    Writing the steps takes several times as long as everything before. The size is not checked, because only the text
    shows it.
    """
    if any(len(part.own) > MOST_STEPS for part in workflow.cut.parts):
        yield from with_too_many_steps(workflow, (_count(workflow, part) for part in workflow.cut.parts))


def _count(workflow: CallingWorkflow, part: Part) -> int:
    """Return the number of steps in a part's job."""
    return len([*workflow.begins(part), *workflow.ends(part)]) + len(part.own)
