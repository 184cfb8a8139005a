"""Diagnostics in formats for people and tools. A format is a module with a function `render`."""

from __future__ import annotations

from importlib import import_module

from rdc.reporting.report import Report

FORMATS = {
    "text": "rdc.reporting.text",
    "json": "rdc.reporting.json",
    "sarif": "rdc.reporting.sarif",
    "github": "rdc.reporting.github",
}


def render(report: Report, form: str) -> str:
    """Return the report in a format of `FORMATS`, without a final line break; "" if the format has no output.

    Raises:
        KeyError: The format does not exist.
    """
    text: str = import_module(FORMATS[form]).render(report)
    return text
