"""The format of documents that are YAML: uniform line ends, no trailing white space, single blank lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from compiler.diagnostics.model import Diagnostic, Severity
from compiler.frontends.common.interface import Formatted, Job
from compiler.text.source import LINE_END, Source

if TYPE_CHECKING:
    from compiler.reading.yaml import Reading


class Parsed(Protocol):
    """A document as it was read; `reading` is None for JSON."""

    @property
    def reading(self) -> Reading | None: ...  # noqa: D102
    @property
    def diagnostics(self) -> list[Diagnostic]: ...  # noqa: D102


def formatted(job: Job, parse: Callable[[Source], Parsed]) -> Formatted:
    """Return a document with uniform line ends, no trailing white space and single blank lines.

    Comments, key order, quotes and indentation stay. JSON and documents with errors are left unchanged.
    """
    parsed = parse(job.source)
    reading, errors = parsed.reading, tuple(item for item in parsed.diagnostics if item.severity is Severity.ERROR)
    if errors:
        return Formatted(None, errors)
    if reading is None:
        return Formatted(job.source.text)
    ends = Counter(LINE_END.findall(job.source.text))
    end = max(("\n", "\r\n", "\r"), key=lambda one: ends[one])
    text = "".join(line + end for line in _ordered(job.source.lines, reading.lines_in_texts))
    again = parse(Source.from_text(job.source.path, text)).reading
    if again is None or (again.values, again.as_written) != (reading.values, reading.as_written):
        return Formatted(None, (), defect="the formatted document would not mean the same")
    return Formatted(text)


def _ordered(lines: tuple[str, ...], inside: frozenset[int]) -> Iterator[str]:
    """Yield the lines without trailing whitespace or repeated blank lines; multi-line strings stay unchanged.

    A blank line after a string may belong to it, so at least one is kept.
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
