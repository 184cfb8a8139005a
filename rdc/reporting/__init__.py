"""Diagnostics in the formats that people and machines read; a format is a module with a function `render`."""

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
    """The report in a format of `FORMATS`, without a line end after it; "" if the format has nothing to say.

    Raises:
        KeyError: There is no such format.
    """
    text: str = import_module(FORMATS[form]).render(report)
    return text
