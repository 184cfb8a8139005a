"""Format specifications in YAML with `rdc fmt`. Only white space changes; JSON stays as it is."""

from __future__ import annotations

from compiler.diagnostic import Severity
from compiler.frontends.base import Formatted, Job
from compiler.frontends.stepspec.parse import parse
from compiler.frontends.yaml_layout import DEFECT, in_order
from compiler.source import Source


def format_document(job: Job) -> Formatted:
    """Return a specification with normalized line ends, trailing white space and empty lines.

    Comments, key order, quotes and indentation stay. JSON and files with errors are left unchanged.
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
