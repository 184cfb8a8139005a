"""Show the results of scenarios to people: a table, with reason and path for each that didn't pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from rdc.paths.text import padded, show_visits, width
from rdc.reporting.cells import visible
from rdc.trials.result import Result, Status

_COLORS = {Status.PASSED: "green", Status.FAILED: "red", Status.SKIPPED: "yellow"}


def render(results: Sequence[Result]) -> str:
    """Return the table and a summary."""
    rows = [(visible(one.document), visible(one.scenario.name), one.on) for one in results]
    widths = [max(map(width, column), default=0) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for result, row in zip(results, rows, strict=True):
        columns = [padded(text, size) for text, size in zip(row, widths, strict=True)]
        status = click.style(f"{result.status.upper():7}", fg=_COLORS[result.status])
        lines.append("  ".join((status, *columns, visible(result.ended))).rstrip())
        lines += (f"         {line}" for line in details(result))
    return "\n".join([*lines, _summary(results)])


def details(result: Result) -> Iterator[str]:
    """Yield why a scenario didn't pass. If it failed, the path follows."""
    if result.problem:
        yield visible(result.problem)
    if result.status is Status.FAILED:
        jump = next((jump.spelled for jump in result.scenario.jumps), "")
        yield from (f"  {line}" for line in show_visits(result.program, result.path, jump))


def _summary(results: Sequence[Result]) -> str:
    counts = Counter(result.status for result in results)
    return ", ".join(f"{counts[status]} {status}" for status in Status if counts[status]) or "no scenarios"
