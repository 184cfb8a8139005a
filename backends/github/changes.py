"""What a run publishes if its document keeps no output: the changes that agents make in the workspace."""

from __future__ import annotations

from backends.github.options import GithubOptions
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel

_PLACES = frozenset({"artifact", "pull-request"})


def proposes_changes(program: Program, options: GithubOptions) -> bool:
    """Return whether the option `publish` publishes the agents' changes."""
    calls = any(isinstance(node.task, Agent | Parallel) for node in program.nodes)
    return bool(options.publish) and program.artifact is None and calls and set(options.publish) <= _PLACES
