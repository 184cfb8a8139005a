"""Agent workflows: docs/formats/agent_workflow.md. This says what the format is; `frontend.py` is what reads it."""

from compiler.frontends.agent_workflow.options import OPTIONS
from compiler.frontends.format import Format

FORMAT = Format(
    name="agent_workflow",
    noun="workflow",
    summary="agent workflows (YAML with steps that have prompts)",
    suffixes=(".workflow.yaml", ".workflow.yml"),
    module="compiler.frontends.agent_workflow.frontend",
    drafts="compiler.frontends.call_drafts",
    options=OPTIONS,
)
