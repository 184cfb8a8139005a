"""Diagnostics as GitHub Actions workflow commands, which GitHub shows next to the lines of a pull request."""

from compiler.diagnostics.model import Diagnostic, Severity
from rdc.report.report import Report
from rdc.terminal.cells import visible

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> str:
    """Return one command on each line; "" if there are no diagnostics."""
    return "\n".join(_command(diagnostic) for diagnostic in report.diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    properties = {"file": diagnostic.path}
    if span:
        properties |= {"line": str(span.line), "endLine": str(span.end_line)}
        if span.end_line == span.line:  # GitHub accepts columns only within one line
            properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    properties["title"] = diagnostic.code
    escaped = {name: _data(value).replace(":", "%3A").replace(",", "%2C") for name, value in properties.items()}
    given = ",".join(f"{name}={value}" for name, value in escaped.items())
    text = "\n".join(filter(None, (diagnostic.message, diagnostic.help)))
    return f"::{_COMMANDS[diagnostic.severity]} {given}::{_data(text)}"


def _data(text: str) -> str:
    """Return an escaped message for GitHub. A line break in a document must not start another command."""
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))
