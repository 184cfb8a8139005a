"""What agents change in the workspace: it is what a run publishes whose document keeps no output."""

from __future__ import annotations

from backends.github.options import GithubOptions
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel

_PLACES = frozenset({"artifact", "pull-request"})


def proposes_changes(program: Program, options: GithubOptions) -> bool:
    """Whether the option `publish` is about what agents have changed."""
    calls = any(isinstance(node.task, Agent | Parallel) for node in program.nodes)
    return bool(options.publish) and program.artifact is None and calls and set(options.publish) <= _PLACES
