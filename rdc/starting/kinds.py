"""The kinds of documents for a new project."""

from __future__ import annotations

from msgspec import Struct


class Kind(Struct, frozen=True):
    """A kind of document: the name of its front end, and the template of the first document."""

    form: str
    document: str
    has_agents: bool = False


KINDS = {
    "runbook": Kind("rundown", "conflict-markers.runbook.md"),
    "playbook": Kind("playbook", "describe-change.playbook.md", has_agents=True),
    "agent-workflow": Kind("agent_workflow", "describe-and-check.workflow.yaml", has_agents=True),
    "specification": Kind("stepspec", "list-files.stepspec.yaml"),
}
