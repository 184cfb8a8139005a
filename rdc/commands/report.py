"""`rdc report`: prints a run as Markdown for a ticket, as JSON, or as a trace."""

import json
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from rdc.runs.reports import archived_runs, report_of, trace_of
from rdc.terminal.output import put
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.state import OURS
from runtime_shim.operator.report import report_lines


def runs_like(_: click.Context, __: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the runs here whose names or ids start so, for the Tab key."""
    folders = sorted(Path(OURS).glob("*/"))
    names = (name for folder in folders for name in (folder.name, *archived_runs(str(folder))))
    return [CompletionItem(name) for name in names if name.startswith(start)]


@click.command(name="report")
@click.argument("file", required=False, type=click.Path())
@click.option("--run", metavar="RUN", default="", shell_complete=runs_like, help="The run, by its name or id.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json", "otlp"]),
    default="markdown",
    show_default=True,
    help="The form of the report.",
)
def command(file: str | None, run: str, form: str) -> int:
    """Print a report of a run for a ticket.

    The report has the result, the steps with their times, the decisions of people, and the end of the log of each
    failed step. Without FILE, it is that of the only run in `.rdc`. Nothing is changed, and no link is followed. With
    `--format otlp`, it is the trace that the run sends to a collector of OpenTelemetry.

    Exit codes: 0 success, 2 usage error, or no run fits.
    """
    try:
        if form == "otlp":
            put(trace_of(file, run))
            return 0
        facts = report_of(file, run)
    except UsageError as error:
        raise click.UsageError(str(error.args[-1])) from None
    put(json.dumps(facts, indent=2) if form == "json" else "\n".join(report_lines(facts)))
    return 0
