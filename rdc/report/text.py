"""Diagnostics for people: the place, the message, the line with a mark under it, and the fix.

    deploy.runbook.md:12:9: error[RD201]: there is no step `10`
       |
    12 | - PASS: GOTO 10
       |         ^^^^^^^
       = help: the steps are 1, 2, Cleanup
       = explain: rdc explain RD201

The text has ANSI styles, which the writer removes if the output is not a terminal.
"""

from collections.abc import Mapping

import click

from compiler.diagnostics.issues import page_of
from compiler.diagnostics.model import Diagnostic, Severity
from compiler.text.source import Source, Span
from rdc.report.report import Report
from rdc.terminal.cells import excerpt, visible
from rdc.terminal.output import many

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def render(report: Report) -> str:
    """Return the diagnostics with empty lines between them, and a line with their numbers; "" without diagnostics."""
    if not report.diagnostics:
        return ""
    blocks = [_block(diagnostic, report.sources, report.docs_url) for diagnostic in report.diagnostics]
    counts = [many(count, severity) for severity in Severity if (count := report.count(severity))]
    return "\n\n".join([*blocks, f"{', '.join(counts)} in {many(report.files, 'file')}{_fixable(report)}"])


def _block(diagnostic: Diagnostic, sources: Mapping[str, Source], docs_url: str) -> str:
    color = _COLORS[diagnostic.severity]
    code = diagnostic.code
    linked = f"\x1b]8;;{page_of(docs_url, code)}\x1b\\{code}\x1b]8;;\x1b\\" if docs_url else code
    kind = click.style(f"{diagnostic.severity}[{linked}]", fg=color, bold=True)
    message = click.style(_continued(diagnostic.message, "  "), bold=True)
    spans = [diagnostic.span, *(related.span for related in diagnostic.related)]
    gutter = " " * max((len(str(span.line)) for span in spans if span), default=1)  # as wide as the longest number
    parts = [f"{_place(diagnostic.path, diagnostic.span)}: {kind}: {message}"]
    parts += _snippet(sources.get(diagnostic.path), diagnostic.span, gutter, color)
    if diagnostic.help:
        parts.append(f"{gutter} = {_bold('help')}: {_continued(diagnostic.help, gutter + '         ')}")
    parts.append(f"{gutter} = {_bold('explain')}: rdc explain {code}")
    for related in diagnostic.related:
        note = click.style("note", fg="cyan", bold=True)
        parts.append(f"{_place(related.path, related.span)}: {note}: {_continued(related.message, '  ')}")
        parts += _snippet(sources.get(related.path), related.span, gutter, "cyan")
    return "\n".join(parts)


def _place(path: str, span: Span | None) -> str:
    return click.style(f"{visible(path)}:{span.line}:{span.column}" if span else visible(path), bold=True)


def _snippet(source: Source | None, span: Span | None, gutter: str, color: str) -> list[str]:
    """Return the line of the span with the mark under it, or [] if the line is missing."""
    if source is None or span is None or span.line > len(source.lines):
        return []
    line = source.lines[span.line - 1]
    several = span.end_line > span.line
    shown = excerpt(line, span.column - 1, len(line.rstrip()) if several else span.end_column - 1)
    until = f" to line {span.end_line}" if several else ""
    mark = click.style("^" * shown.width + until, fg=color, bold=True)
    return [
        f"{gutter} |",
        f"{span.line:>{len(gutter)}} | {shown.text}".rstrip(),
        f"{gutter} | {' ' * shown.offset}{mark}",
    ]


def _continued(text: str, indent: str) -> str:
    """Return the text with visible characters only, and its further lines indented."""
    return f"\n{indent}".join(visible(line) for line in text.split("\n"))


def _bold(text: str) -> str:
    return click.style(text, bold=True)


def _fixable(report: Report) -> str:
    """Return the line with the number of fixable findings, after a line break; "" without such findings."""
    # A warning of a document with errors doesn't count, because `--fix` fixes the errors first.
    broken = {found.path for found in report.diagnostics if found.severity is Severity.ERROR}
    first = (found for found in report.diagnostics if found.severity is Severity.ERROR or found.path not in broken)
    fixes = [found.fix for found in first if found.fix]
    safe = sum(fix.is_safe for fix in fixes)
    if not fixes:
        return ""
    if not safe:
        return f"\n{len(fixes)} of these can be fixed with rdc check --fix --unsafe-fixes"
    more = f", and {len(fixes) - safe} more with --unsafe-fixes" if len(fixes) > safe else ""
    return f"\n{safe} of these can be fixed with rdc check --fix{more}"
