"""Formatting: white space of a workflow is put in order, and every text in it stays as it is (`rdc fmt`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compiler.diagnostic import Severity
from compiler.frontends.agent_workflow.parse import parse
from compiler.frontends.base import Formatted, Job
from compiler.source import LINE_END, Source

if TYPE_CHECKING:
    from compiler.yaml_text import Reading

DEFECT = "its normal form would not mean the same"


def format_document(job: Job) -> Formatted:
    """The normal form of a workflow: line ends, white space at their ends, and empty lines.

    Comments, the order of keys, quotes and indentation stay. What cannot be read is left alone.
    """
    parsed = parse(job.source)
    errors = tuple(item for item in parsed.diagnostics if item.severity is Severity.ERROR)
    if parsed.reading is None or errors:
        return Formatted(None, errors)
    text = _text(job.source, parsed.reading)
    again = parse(Source.from_text(job.source.path, text)).reading
    if again is None or (again.values, again.as_written) != (parsed.reading.values, parsed.reading.as_written):
        return Formatted(None, (), defect=DEFECT)
    return Formatted(text)


def _text(source: Source, reading: Reading) -> str:
    ends = Counter(LINE_END.findall(source.text))
    end = max(("\n", "\r\n", "\r"), key=lambda one: ends[one])
    inside = reading.lines_in_texts
    return "".join(line + end for line in _ordered(source.lines, inside))


def _ordered(lines: tuple[str, ...], inside: frozenset[int]) -> Iterator[str]:
    """The lines, without white space at their ends, and one empty line where several stand; texts are left alone.

    An empty line behind a text may belong to it, so there is one where there was one.
    """
    last = max((number for number, line in enumerate(lines, 1) if line.strip() or number in inside), default=0)
    blank = True
    for number, line in enumerate(lines[:last], 1):
        if number in inside:
            yield line
            blank = False
            continue
        stripped = line.rstrip(" \t")
        if stripped or not blank:
            yield stripped
        blank = not stripped
