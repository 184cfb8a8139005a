"""Build the prompts of agents (W6, W11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from compiler.frontends.agent_workflow.syntax import Step, Workflow
from compiler.frontends.agent_workflow.verdicts import last_lines
from compiler.ir.texts import Part, Reference, Text, joined

TASK = "task"
"""The input with the task of a run (W15)."""

FOLDER = "folder of reports"
"""The slot with the absolute path of the reports directory. Authors can't use this name."""

PARAGRAPH = "\n\n"


class Redirect(Struct, frozen=True):
    """A transition by a condition, which passes the step's answer on once (W11)."""

    source: str
    target: str
    leads_back: bool

    @property
    def slot(self) -> str:
        """Return the slot that holds the answer until the target has run."""
        return feedback_slot(self.source, self.target)


def feedback_slot(source: str, target: str) -> str:
    """Return the slot that holds one step's answer for another."""
    return f"feedback {target} {source}"


def redirects(workflow: Workflow) -> Mapping[str, Sequence[Redirect]]:
    """Return the transitions by conditions that lead to each step, in the order of their source steps."""
    places = {step.name: place for place, step in enumerate(workflow.steps)}
    found: dict[str, list[Redirect]] = {step.name: [] for step in workflow.steps}
    for place, step in enumerate(workflow.steps):
        for target in dict.fromkeys(condition.goto for condition in step.conditions or ()):
            found[target].append(Redirect(step.name, target, place >= places[target]))
    return found


def prompt_of(workflow: Workflow, step: Step, written: str, leading: Iterable[Redirect]) -> Text:
    """Return the prompt of a step, or of one of its entries. The author's text has no placeholders."""
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
    if lines := last_lines(step, written):
        choices = " or ".join(filter(None, (", ".join(lines[:-1]), lines[-1])))
        parts.append(f"{PARAGRAPH}End your answer with a line that has nothing but {choices}.")
    return joined(parts)


def _task(workflow: Workflow) -> tuple[Part, ...]:
    """Return the task with its heading. Without a description it may be empty (W15)."""
    if described(workflow):
        return ("Task:\n", Reference(TASK, "{task}"), PARAGRAPH)
    return (Reference(TASK, "{task}", before="Task:\n", after=PARAGRAPH),)


def described(workflow: Workflow) -> str:
    """Return the description, which is the default task (W15)."""
    return (workflow.description or "").strip()


def _feedback(redirect: Redirect) -> Reference:
    """The answer that led to a step. It says that the step runs again only if the transition leads back."""
    again = ", and why this step runs again" if redirect.leads_back else ""
    heading = f"What {redirect.source} said{again}:{PARAGRAPH}"
    return Reference(redirect.slot, before=heading, after=PARAGRAPH)


def _bare(written: str) -> str:
    return written.strip("\n").rstrip()
