"""The agent workflow format (docs/formats/agent_workflow.md). `frontend.py` reads it."""

from typing import Any

from compiler.diagnostics.issues import InvalidError, OptionSources
from compiler.diagnostics.model import Issue
from compiler.frontends.common.interface import Format
from compiler.frontends.common.names import OPERATING, SECRETS, STEPS
from compiler.project.options import Level, Option

LARGEST_LIMIT = 1_000_000  # in steps; every target can count this far


def _read_limit(value: object, _: OptionSources) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_LIMIT:
        return value
    problem = f"`max-steps` is not a number from 0 to {LARGEST_LIMIT:,}"
    raise InvalidError(Issue((), problem, "write the maximum number of steps in a run, or 0 for no limit"))


MAX_STEPS: Option[int] = Option(
    "max-steps",
    "Maximum number of steps in a run; 0 for no limit.",
    _read_limit,
    levels=(Level.DOCUMENT, Level.PROJECT),
)
OPTIONS: tuple[Option[Any], ...] = (SECRETS, STEPS, MAX_STEPS, *OPERATING)


FORMAT = Format(
    name="agent_workflow",
    noun="workflow",
    summary="agent workflows (YAML steps with prompts for agents)",
    suffixes=(".workflow.yaml", ".workflow.yml"),
    module="compiler.frontends.agent_workflow.frontend",
    marks="compiler.frontends.agent_workflow.marks",
    schema="compiler.frontends.agent_workflow.syntax",
    drafts="compiler.frontends.common.drafts",
    options=OPTIONS,
)
