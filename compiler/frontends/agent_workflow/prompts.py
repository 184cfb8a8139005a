"""What the agent of a step is told (W6, W11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    leads_back: bool

    @property
    def slot(self) -> str:
        """Where the answer is kept until the target has run."""
        return feedback_slot(self.source, self.target)


def feedback_slot(source: str, target: str) -> str:
    """Where the answer of a step is kept for another one."""
    return f"feedback {target} {source}"


def redirects(workflow: Workflow) -> Mapping[str, Sequence[Redirect]]:
    """The transitions by conditions that lead to each step, in the order of the steps that they leave."""
    places = {step.name: place for place, step in enumerate(workflow.steps)}
    found: dict[str, list[Redirect]] = {step.name: [] for step in workflow.steps}
    for place, step in enumerate(workflow.steps):
        for target in dict.fromkeys(condition.goto for condition in step.conditions or ()):
            found[target].append(Redirect(step.name, target, place >= places[target]))
    return found


def prompt_of(workflow: Workflow, step: Step, written: str, leading: Iterable[Redirect]) -> Text:
    """The prompt of a step to which redirects lead, or of an entry of it. What authors write has no placeholders."""
    parts: list[Part] = [
        f"Workflow: {workflow.name}\nStep: {step.name}\nReports are in: ",
        Reference(FOLDER),
        "\n\n",
        *_task(workflow),
        *map(_feedback, leading),
    ]
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


def _feedback(redirect: Redirect) -> Reference:
    """What led back to the step, if a condition did; what led forward to it, without saying that it runs again."""
    again = ", and why this step runs again" if redirect.leads_back else ""
    heading = f"What {redirect.source} said{again}:{PARAGRAPH}"
    return Reference(redirect.slot, before=heading, after=PARAGRAPH)


def _bare(written: str) -> str:
    """A text without empty lines around it."""
    return written.strip("\n").rstrip()
