"""Formatting: white space of a specification in YAML is put in order; every editor formats JSON (`rdc fmt`)."""

from __future__ import annotations

from compiler.diagnostic import Severity
from compiler.frontends.base import Formatted, Job
from compiler.frontends.stepspec.parse import parse
from compiler.frontends.yaml_layout import DEFECT, in_order
from compiler.source import Source


def format_document(job: Job) -> Formatted:
    """The normal form of a specification: line ends, white space at their ends, and empty lines.

    Comments, the order of keys, quotes and indentation stay, and so does JSON. What cannot be read is left alone.
    """
    parsed = parse(job.source)
    errors = tuple(item for item in parsed.diagnostics if item.severity is Severity.ERROR)
    if parsed.data is None or errors:
        return Formatted(None, errors)
    if parsed.data.yaml is None:
        return Formatted(job.source.text)
    text = in_order(job.source, parsed.data.yaml)
    again = parse(Source.from_text(job.source.path, text)).data
    if again is None or again.values != parsed.data.values:
        return Formatted(None, (), defect=DEFECT)
    return Formatted(text)
