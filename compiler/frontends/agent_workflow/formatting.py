"""Formatting: white space of a workflow is put in order, and every text in it stays as it is (`rdc fmt`)."""

from __future__ import annotations

from compiler.diagnostic import Severity
from compiler.frontends.agent_workflow.parse import parse
from compiler.frontends.base import Formatted, Job
from compiler.frontends.yaml_layout import DEFECT, in_order
from compiler.source import Source


def format_document(job: Job) -> Formatted:
    """The normal form of a workflow: line ends, white space at their ends, and empty lines.

    Comments, the order of keys, quotes and indentation stay. What cannot be read is left alone.
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
