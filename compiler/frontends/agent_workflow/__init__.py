"""The agent workflow format (docs/formats/agent_workflow.md). `frontend.py` reads it."""

from compiler.frontends.agent_workflow.options import OPTIONS
from compiler.frontends.format import Format

FORMAT = Format(
    name="agent_workflow",
    noun="workflow",
    summary="agent workflows (YAML steps with prompts for agents)",
    suffixes=(".workflow.yaml", ".workflow.yml"),
    module="compiler.frontends.agent_workflow.frontend",
    formatter="compiler.frontends.agent_workflow.formatting",
    drafts="compiler.frontends.call_drafts",
    options=OPTIONS,
)
