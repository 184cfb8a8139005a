"""Put time limits on the nodes of steps with calls (I21)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.call_steps import TimeLimit
from compiler.ir.program import Node, Program, Settings
from compiler.ir.tasks import Agent, Parallel, Tool
from compiler.suggestions import did_you_mean


def with_limits(program: Program, said: Iterable[TimeLimit]) -> tuple[Program, list[Diagnostic]]:
    """Return the program with these time limits, and the diagnostics for limits of other steps."""
    seconds = {limit.step: limit.seconds for limit in said}
    if not seconds:
        return program, []
    calling = [node.id for node in program.nodes if isinstance(node.task, Agent | Parallel | Tool)]
    found = [
        limit.place.finding(
            f"no step `{limit.step}` calls an agent or a tool{did_you_mean(limit.step, calling)}",
            f"set it for one of these steps: {', '.join(calling)}" if calling else "remove it: no step calls one",
        )
        for limit in said
        if limit.step not in calling and limit.place
    ]

    def limited(node: Node) -> Node:
        return replace(node, settings=Settings(seconds[node.id])) if node.id in seconds else node

    return (program if found else replace(program, nodes=tuple(map(limited, program.nodes)))), found
