"""Check a workflow's agent types against the targets' tables of agent commands (W4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostic import Diagnostic
from compiler.frontends.agent_workflow.syntax import Workflow
from compiler.issues import Path, SourceMap
from compiler.options import Table
from compiler.suggestions import did_you_mean

KEY = "agents"
"""The target option with a command for each agent type."""


def unlisted_agents(workflow: Workflow, places: SourceMap, tables: Mapping[str, Table]) -> Iterator[Diagnostic]:
    """Warn about each agent type that a target's table of agents lacks. Targets without a table get no warning."""
    used = list(_types(workflow))
    for target, table in tables.items():
        listed = table.values.get(KEY)
        if not isinstance(listed, Mapping) or not listed:
            continue
        known = sorted(map(str, listed))
        for path, agent in used:
            if agent not in known:
                problem = f"there is no agent type `{agent}` in `agents` of target {target}{did_you_mean(agent, known)}"
                remedy = f"add it to `agents`, or use one of {', '.join(known[:20])}"
                yield places.diagnostic("RD833", path, problem, remedy)


def _types(workflow: Workflow) -> Iterator[tuple[Path, str]]:
    for number, step in enumerate(workflow.steps):
        path: Path = ("steps", number)
        if step.agent:
            yield (*path, "agent"), step.agent
        for index, entry in enumerate(step.parallel or ()):
            if entry.agent:
                yield (*path, "parallel", index, "agent"), entry.agent
