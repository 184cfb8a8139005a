"""Write the results of scenarios as JUnit XML: a suite per document, a case per result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import click

from rdc.reporting.cells import visible
from rdc.trials.result import Result, Status
from rdc.trials.text import details


def render(results: Sequence[Result]) -> str:
    """Return the XML. Characters that XML can't hold are replaced."""
    root = Element("testsuites", _counts(results))
    for document, group in groupby(results, key=lambda result: result.document):
        of_document = list(group)
        suite = SubElement(root, "testsuite", {"name": visible(document)} | _counts(of_document))
        for result in of_document:
            _case(suite, result)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=False)


def _case(suite: Element, result: Result) -> None:
    case = SubElement(
        suite,
        "testcase",
        {
            "classname": visible(result.document),
            "name": visible(f"{result.scenario.name} [{result.on}]"),
            "time": f"{result.seconds:.3f}",
        },
    )
    if result.status is Status.PASSED:
        return
    kind = "failure" if result.status is Status.FAILED else "skipped"
    SubElement(case, kind, {"message": visible(result.problem)}).text = click.unstyle("\n".join(details(result)))


def _counts(results: Sequence[Result]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": str(sum(result.status is Status.FAILED for result in results)),
        "skipped": str(sum(result.status is Status.SKIPPED for result in results)),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }
