"""Complete the result of an error-free document that calls agents, tools or executors."""

from __future__ import annotations

from msgspec.structs import replace

from compiler.diagnostic import has_error
from compiler.frontends.base import Job, Result
from compiler.frontends.call_limits import with_limits
from compiler.frontends.call_scenarios import ENDING, Told, find_scenarios
from compiler.frontends.call_steps import NO_STEPS, STEPS, with_nodes
from compiler.ir.program import Program
from compiler.source import Spans


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
