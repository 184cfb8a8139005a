"""The publication of agents' changes in the workspace, for documents that keep no output."""

from __future__ import annotations

from backends.github.options import GithubOptions
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel

_PLACES = frozenset({"artifact", "pull-request"})


def proposes_changes(program: Program, options: GithubOptions) -> bool:
    """Return whether the option `publish` publishes the agents' changes."""
    calls = any(isinstance(node.task, Agent | Parallel) for node in program.nodes)
    return bool(options.publish) and program.artifact is None and calls and set(options.publish) <= _PLACES
