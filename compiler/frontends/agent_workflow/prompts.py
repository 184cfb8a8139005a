"""What the agent of a step is told (W6, W11)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compiler.frontends.agent_workflow.syntax import Step, Workflow
from compiler.ir.texts import Part, Reference, Text, joined

TASK = "task"
"""The input with the task of a run (W15)."""

FOLDER = "folder of reports"
"""The slot with the absolute path of the folder where reports lie; no author gives it this name."""

PARAGRAPH = "\n\n"


class Redirect(Struct, frozen=True):
    """A transition by a condition, which carries the answer of its step along, once (W11)."""

    source: str
    target: str

    @property
    def slot(self) -> str:
        """Where the answer is kept until the target has run."""
        return f"feedback {self.target} {self.source}"


def redirects_to(workflow: Workflow, target: str) -> Iterator[Redirect]:
    """The transitions by conditions that lead to a step, each pair of steps once."""
    for step in workflow.steps:
        if any(condition.goto == target for condition in step.conditions or ()):
            yield Redirect(step.name, target)


def prompt_of(workflow: Workflow, step: Step, written: str) -> Text:
    """The prompt of a step, or of an entry of a parallel one. What the author wrote has no placeholders."""
    parts: list[Part] = [
        f"Workflow: {workflow.name}\nStep: {step.name}\nReports are in: ",
        Reference(FOLDER),
        "\n\n",
        *_task(workflow),
    ]
    parts += _feedback(workflow, step)
    parts.append(_bare(written))
    if step.report and _bare(step.report.format):
        parts.append(f"{PARAGRAPH}A report like this is expected:{PARAGRAPH}{_bare(step.report.format)}")
    return joined(parts)


def _task(workflow: Workflow) -> tuple[Part, ...]:
    """The task under its heading; without a description to stand in, there may be none (W15)."""
    if described(workflow):
        return ("Task:\n", Reference(TASK, "{task}"), PARAGRAPH)
    return (Reference(TASK, "{task}", before="Task:\n", after=PARAGRAPH),)


def described(workflow: Workflow) -> str:
    """What stands in for a task that is not given (W15)."""
    return (workflow.description or "").strip()


def _feedback(workflow: Workflow, step: Step) -> Iterator[Reference]:
    """What led back to the step, if a condition did; what led forward to it, without saying that it runs again."""
    names = [other.name for other in workflow.steps]
    for redirect in redirects_to(workflow, step.name):
        leads_back = names.index(redirect.source) >= names.index(step.name)
        again = ", and why this step runs again" if leads_back else ""
        heading = f"What {redirect.source} said{again}:{PARAGRAPH}"
        yield Reference(redirect.slot, before=heading, after=PARAGRAPH)


def _bare(written: str) -> str:
    """A text without empty lines around it."""
    return written.strip("\n").rstrip()
