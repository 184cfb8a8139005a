"""`rdc compile`: compiles documents for a target. It writes all files or none."""

import click

from compiler.driver import Settings, open_file
from rdc.commands.common.deliver import generated, print_one, write_files
from rdc.commands.common.documents import documents_of, language_options, refuse_output
from rdc.commands.common.reporter import Reporter, reporting_options
from rdc.commands.common.target import Target, misuse_told, target_options
from rdc.output.deliver import compare, compile_documents
from rdc.output.generate import Generation
from rdc.output.layout import Layout
from rdc.output.packages import lock_command, lock_issue
from rdc.output.paths import plan
from rdc.terminal.output import put, tell


@click.command(name="compile")
@click.argument("sources", metavar="FILE|DIR...", nargs=-1, required=True, type=click.Path())
@target_options
@click.option(
    "-o",
    "--output",
    "out",
    metavar="OUT",
    type=click.Path(),
    help="The output file; a folder if it ends in / or there are several documents; or - for standard output. "
    "By default, each file is written next to its document.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail and show the differences if a file is not up to date.")
@click.option("--force", is_flag=True, help="Overwrite files that rdc did not generate.")
@language_options
@reporting_options
def command(
    sources: tuple[str, ...],
    out: str | None,
    target: Target,
    settings: Settings,
    reporter: Reporter,
    *,
    check: bool,
    force: bool,
) -> int:
    """Compile documents for a target.

    For a folder, this compiles all documents in it, except hidden and ignored ones. `-o OUT/` keeps the
    subfolders: for the folder `docs`, docs/a/x.runbook.md becomes OUT/a/x.py. For several folders, paths are relative
    to the nearest folder that contains them all. Missing folders are created.

    If a document has an error, nothing is written. Files that are up to date are not touched.
    """
    documents = documents_of(sources)
    refuse_output(documents, out)
    if out == "-":
        _refuse_for_standard_output(reporter, check=check)
    mains = plan(documents, None if out == "-" else out, target.backend.suffix)
    if out == "-":
        made = generated(documents, settings, target, [main.path for main in mains])
        return print_one(documents[0].path, made, reporter)
    opened = [open_file(found.path) for found in documents]
    with misuse_told(target.backend):
        made, layout = compile_documents(opened, mains, settings, target.backend, target.options)
    if check:
        return _compare(made, layout, reporter)
    code = write_files(made, layout, reporter, force=force)
    for main in mains if code == 0 and target.backend.has_packages else ():
        if lock_issue(main.path):
            reporter.say(f"to lock its packages, run: {lock_command(main.path)}")
    return code


def _refuse_for_standard_output(reporter: Reporter, *, check: bool) -> None:
    if check:
        raise click.UsageError("--check compares files; remove -o -")
    if reporter.form != "text":
        raise click.UsageError(f"-o - and --format {reporter.form} both write to standard output; remove one of them")


def _compare(made: Generation, layout: Layout, reporter: Reporter) -> int:
    compared = [compare(laid.output, laid.data) for laid in layout.files]
    stale = [difference for difference in compared if difference]
    found = [*made.diagnostics, *layout.findings, *(problem for problem, _ in stale)]
    is_failed = reporter.report(found, made.sources)
    show = put if reporter.form == "text" else tell  # standard output is for tools in the other formats
    for diff in (diff for _, diff in stale if diff):
        show(diff)
    if is_failed:
        return 1
    for group in layout.groups:
        reporter.say(group.is_current)
    return 0
