"""What comes of a document that calls agents, tools or executors, once it is right in itself."""

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
    """The result with the program, the time limits of its steps, and the scenarios.

    Args:
        job: The document.
        result: What was found so far, without errors.
        program: What the document means.
        stem: Its name without endings: a file with scenarios beside it begins so.
        content: What the document has under `scenarios`, as written; None for nothing.
        spans: Where that stands, and each key and item in it.
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
