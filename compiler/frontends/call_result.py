"""Complete the result of an error-free document that calls agents, tools or executors."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, has_error
from compiler.frontends.base import Job, Result
from compiler.frontends.call_scenarios import ENDING, Told, find_scenarios
from compiler.frontends.call_steps import NO_STEPS, STEPS, TimeLimit, with_nodes
from compiler.ir.program import Node, Program, Settings
from compiler.ir.tasks import Agent, Parallel, Tool
from compiler.source import Spans
from compiler.suggestions import did_you_mean


def completed(job: Job, result: Result, program: Program, stem: str, content: object, spans: Spans) -> Result:
    """Return the result with the program, the time limits of its steps, and its scenarios.

    Args:
        job: The document.
        result: The result so far, without errors.
        program: The document's program.
        stem: The document's file name without extensions; a companion file with scenarios starts with it.
        content: The document's `scenarios` as written, or None.
        spans: The places of `scenarios` and of each key and item in it.
    """
    nodes = STEPS.first(result.options.values) or NO_STEPS
    limited, problems = with_limits(program, nodes.limits)
    scenarios = find_scenarios(Told(job.source, stem, job.project), content, spans, limited)
    found = [*problems, *scenarios.diagnostics]
    return replace(
        result,
        program=None if has_error(found) else limited,
        diagnostics=(*result.diagnostics, *found),
        sources={**result.sources, **({scenarios.file.name: scenarios.file} if scenarios.file else {})},
        options=with_nodes(result.options, nodes),
        scenarios=scenarios.scenarios,
        scenario_file=f"{stem}{ENDING}" if stem else "",
    )


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
