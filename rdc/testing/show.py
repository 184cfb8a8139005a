"""Show the results of scenarios: to people as a table, to other programs as JSON or JUnit XML."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import click

from compiler.ir.semantics import Machine
from rdc.terminal.cells import padded, visible, width
from rdc.testing.result import Result, Status
from rdc.trace.json import plain_path
from rdc.trace.text import show_visits

VERSION = 1
_COLORS = {Status.PASSED: "green", Status.FAILED: "red", Status.SKIPPED: "yellow"}


def as_text(results: Sequence[Result]) -> str:
    """Return a table and a summary, with reason and path for each scenario that didn't pass."""
    rows = [(visible(one.document), visible(one.scenario.name), one.on) for one in results]
    widths = [max(map(width, column), default=0) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for result, row in zip(results, rows, strict=True):
        columns = [padded(text, size) for text, size in zip(row, widths, strict=True)]
        status = click.style(f"{result.status.upper():7}", fg=_COLORS[result.status])
        lines.append("  ".join((status, *columns, visible(result.ended))).rstrip())
        lines += (f"         {line}" for line in _details(result))
    counts = _numbers(results)
    summary = ", ".join(f"{count} {status}" for status, count in counts.items() if count) or "no scenarios"
    return "\n".join([*lines, summary])


def as_json(results: Sequence[Result]) -> str:
    """Return all results, each with its path up to the end or the error."""
    rows = [
        {
            "document": result.document,
            "scenario": result.scenario.name,
            "description": result.scenario.description,
            "on": result.on,
            "status": result.status.value,
            "expected": result.scenario.ends,
            "ended": result.ended,
            "problem": result.message,
            "seconds": round(result.seconds, 3),
            "path": plain_path(Machine(result.program), result.path),
        }
        for result in results
    ]
    return json.dumps({"version": VERSION, "summary": _numbers(results), "results": rows}, indent=2)


def as_junit(results: Sequence[Result]) -> str:
    """Return a suite per document and a case per result. Characters that XML can't hold are replaced."""
    root = Element("testsuites", _counts(results))
    for document, group in groupby(results, key=lambda result: result.document):
        of_document = list(group)
        suite = SubElement(root, "testsuite", {"name": visible(document)} | _counts(of_document))
        for result in of_document:
            _case(suite, result)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=False)


def _details(result: Result) -> Iterator[str]:
    """Yield why a scenario didn't pass. If it failed, the path follows."""
    if result.message:
        yield visible(result.message)
    if result.status is Status.FAILED:
        jump = next((jump.spelled for jump in result.scenario.jumps), "")
        yield from (f"  {line}" for line in show_visits(result.program, result.path, jump))


def _numbers(results: Sequence[Result]) -> dict[str, int]:
    counts = Counter(result.status for result in results)
    return {status.value: counts[status] for status in Status}


def _case(suite: Element, result: Result) -> None:
    names = {"classname": visible(result.document), "name": visible(f"{result.scenario.name} [{result.on}]")}
    case = SubElement(suite, "testcase", {**names, "time": f"{result.seconds:.3f}"})
    if result.status is Status.PASSED:
        return
    kind = "failure" if result.status is Status.FAILED else "skipped"
    SubElement(case, kind, {"message": visible(result.message)}).text = click.unstyle("\n".join(_details(result)))


def _counts(results: Sequence[Result]) -> dict[str, str]:
    numbers = _numbers(results)
    return {
        "tests": str(len(results)),
        "failures": str(numbers[Status.FAILED]),
        "skipped": str(numbers[Status.SKIPPED]),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }
