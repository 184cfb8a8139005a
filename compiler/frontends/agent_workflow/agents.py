"""The types of agents of a workflow, held against the tables that name their commands (W4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostic import Diagnostic
from compiler.frontends.agent_workflow.syntax import Workflow
from compiler.frontends.places import Path, Places
from compiler.options import Table
from compiler.suggestions import did_you_mean

KEY = "agents"
"""The option of targets with a command for each type of agent."""


def unlisted_agents(workflow: Workflow, places: Places, tables: Mapping[str, Table]) -> Iterator[Diagnostic]:
    """A warning for each type that a table of agents lacks; there is none without such a table."""
    used = list(_types(workflow))
    for target, table in tables.items():
        listed = table.values.get(KEY)
        if not isinstance(listed, Mapping) or not listed:
            continue
        known = sorted(map(str, listed))
        for path, agent in used:
            if agent not in known:
                problem = (
                    f"the agents that are configured for {target} have no type `{agent}`{did_you_mean(agent, known)}"
                )
                remedy = f"the types are {', '.join(known[:20])}; the common agent does what no other does"
                yield places.diagnostic("RD833", path, problem, remedy)


def _types(workflow: Workflow) -> Iterator[tuple[Path, str]]:
    for number, step in enumerate(workflow.steps):
        path: Path = ("steps", number)
        if step.agent:
            yield (*path, "agent"), step.agent
        for index, entry in enumerate(step.parallel or ()):
            if entry.agent:
                yield (*path, "parallel", index, "agent"), entry.agent
