"""The items of a workflow that `rdc.lock` lists, because reviewers must not miss them (B-5)."""

from __future__ import annotations

from collections.abc import Iterator

from backends.github.options import USUAL_PYTHON, Bound, Called, GithubOptions, SetupStep, command_of
from backends.github.pins import pinned
from backends.github.workflow import Written
from compiler.ir.tasks import Ask

BY_HAND = "workflow_dispatch"
USUAL = GithubOptions()
"""The usual values, which are not listed: starts by hand, on GitHub's runners, with replies from people."""


def items(workflow: Written) -> tuple[str, ...]:
    """Return the permissions, calls and other items of a workflow, each once, as a kind and a value."""
    return tuple(dict.fromkeys((*_of_jobs(workflow), *_of_options(workflow))))


def _of_jobs(workflow: Written) -> Iterator[str]:
    for job in pinned(workflow.jobs, workflow.options.actions):
        yield from (f"permission {scope}: {access}" for scope, access, _ in job.permissions)
        if job.environment:
            yield f"environment {job.environment}"
        for step in job.steps:
            if step.uses:
                yield f"action {step.uses}{f' # {step.version}' if step.version else ''}"


def _of_options(workflow: Written) -> Iterator[str]:
    options = workflow.options
    yield from (f"secret {name}" for name in workflow.stored_secrets.values())
    for (kind, *names), caller in options.callers():
        word = {"agents": "agent", "tools": "tool"}.get(kind, kind)
        yield f"{' '.join((word, *names))}: {command_of(caller).strip()}"
        if isinstance(caller, Called):
            yield from (f"{' '.join((word, *names))} gets secret {name}" for name in caller.secrets)
            yield from (item for step in caller.setup for item in _of_setup(step))
    for name, value in options.bind.items():
        if options.is_of_event(name):
            yield f"input {name} from event.{options.event_field(name)}"
        elif isinstance(value, Bound):
            yield f"script {value.run.strip()}"
    yield from (f"trigger {event}" for event in workflow.events if event != BY_HAND)
    yield from (item for step in options.setup for item in _of_setup(step))
    yield from (f"env {name}: {text}" for name, text in options.env.items())
    if options.prompts != USUAL.prompts and any(isinstance(node.task, Ask) for node in workflow.program.nodes):
        yield f"prompts {options.prompts}"
    if options.python != USUAL_PYTHON:
        yield f"python {options.python}"
    labels = [options.runs_on] if isinstance(options.runs_on, str) else options.runs_on
    yield from (f"runner {label}" for label in labels if label != USUAL.runs_on)


def _of_setup(step: SetupStep) -> Iterator[str]:
    """Yield the script, shell, inputs and variables of a set-up step. Its action is in the jobs."""
    if step.run:
        yield f"script {step.run.strip()}"
    if step.shell:
        yield f"shell {step.shell}"
    action = (step.uses or "").partition("@")[0]
    yield from (f"with {action} {name}: {text}" for name, text in step.inputs.items())
    yield from (f"env {name}: {text}" for name, text in step.env.items())
