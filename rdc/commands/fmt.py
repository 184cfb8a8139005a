"""`rdc fmt`: formats documents without changing their meaning."""

from collections.abc import Sequence

import click

from compiler.driver import Formatting, Settings, format_opened
from compiler.text.source import Source
from rdc.commands.common.documents import (
    documents_argument,
    language_options,
    open_documents,
    refuse_for_standard_output,
)
from rdc.commands.common.reporter import Reporter, form_option
from rdc.rewrite.files import Reformatted, reformatted, show_differences, write_rewrites
from rdc.terminal.cells import visible
from rdc.terminal.output import many, put, tell

DEFECT = 70


@click.command(name="fmt")
@documents_argument
@click.option("--check", is_flag=True, help="Write nothing; fail and list the files that would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@click.option("-q", "--quiet", is_flag=True, help="Don't print success messages.")
@language_options
@form_option
def command(files: tuple[str, ...], settings: Settings, form: str, *, check: bool, diff: bool, quiet: bool) -> int:
    """Format documents.

    This orders the parts of each step, numbers the steps, and unifies the style of headers and transitions. Text, code
    and comments stay unchanged. Without arguments, it formats all documents of the project, which is the nearest folder
    above with `.git` or `rdc.toml`. For a folder, it formats all documents in it. `-` reads standard input and writes
    to standard output.

    Documents with errors that formatting cannot fix stay unchanged. Exit codes: 0 all documents are formatted, 1 one
    has errors (with --check: or would change), 2 usage error.
    """
    reporter = Reporter(form, quiet=quiet)
    in_place = not (check or diff)
    if in_place and "-" in files:
        refuse_for_standard_output(files, form)
    formatted = [format_opened(document, settings) for document in open_documents(files)]
    changes = [found for found in map(reformatted, formatted) if found]
    status = max(_report(formatted, changes if check else [], reporter), _confess(formatted))
    if diff:
        show_differences(changes, is_text=form == "text")
    if "-" in files and in_place:
        source, text = formatted[0].opened.source, formatted[0].result.text
        if isinstance(source, Source) and text is not None:
            put(source.encode(text))
        return status
    if in_place and (problem := write_rewrites(changes, "rdc fmt")):
        reporter.report([problem], {})
        return max(status, 1)
    _summarize(formatted, changes if in_place else [], len(changes), reporter)
    return status


def _report(formatted: Sequence[Formatting], unformatted: Sequence[Reformatted], reporter: Reporter) -> int:
    """Show why documents stay unchanged, and which would change. Return the exit code."""
    found = [found for one in formatted for found in one.result.diagnostics]
    sources = {path: source for one in formatted for path, source in one.sources.items()}
    return int(reporter.report([*found, *(one.finding() for one in unformatted)], sources))


def _confess(formatted: Sequence[Formatting]) -> int:
    """Report documents that a defect of rdc keeps from being formatted. Return the exit code."""
    defects = [(one.opened.path, one.result.defect) for one in formatted if one.result.defect]
    for path, reason in defects:
        problem = f"{path} was not formatted: {reason}; please report this defect of rdc with the document"
        tell(visible(f"rdc: internal error: {problem}"))
    return DEFECT if defects else 0


def _summarize(
    formatted: Sequence[Formatting], written: Sequence[Reformatted], changed: int, reporter: Reporter
) -> None:
    for one in written:
        reporter.say(one.words())
    rest = sum(1 for one in formatted if one.result.text is not None) - changed
    if rest:
        reporter.say(f"{many(rest, 'file')} already formatted")
