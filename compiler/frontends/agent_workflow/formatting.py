"""Format workflows with `rdc fmt`. Only white space changes."""

from __future__ import annotations

from compiler.diagnostic import Severity
from compiler.frontends.agent_workflow.parse import parse
from compiler.frontends.base import Formatted, Job
from compiler.frontends.yaml_layout import DEFECT, in_order
from compiler.source import Source


def format_document(job: Job) -> Formatted:
    """Return a workflow with normalized line ends, trailing white space and empty lines.

    Comments, key order, quotes and indentation stay. A workflow with errors is left unchanged.
    """
    parsed = parse(job.source)
    errors = tuple(item for item in parsed.diagnostics if item.severity is Severity.ERROR)
    if parsed.reading is None or errors:
        return Formatted(None, errors)
    text = in_order(job.source, parsed.reading)
    again = parse(Source.from_text(job.source.path, text)).reading
    if again is None or (again.values, again.as_written) != (parsed.reading.values, parsed.reading.as_written):
        return Formatted(None, (), defect=DEFECT)
    return Formatted(text)
