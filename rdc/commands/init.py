"""`rdc init`: writes the first files of a project."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from compiler.importers.page import Options
from compiler.project.project import project_around
from rdc.commands.build import command as build
from rdc.commands.common.reporter import Reporter
from rdc.commands.common.target import complete_target, known_target
from rdc.importing.files import Made, Place, UnfitError, import_all, report_lines
from rdc.init.files import CHECK, DRAFTED, KINDS, Wanted, folder_of, start
from rdc.terminal.output import tell


@click.command(name="init")
@click.argument("folder", metavar="[FOLDER]", default=".", type=click.Path(file_okay=False))
@click.option(
    "--kind", type=click.Choice(list(KINDS)), default="runbook", show_default=True, help="The kind of documents."
)
@click.option(
    "--to",
    "target",
    metavar="TARGET",
    default="github",
    show_default=True,
    callback=known_target,
    shell_complete=complete_target,
    help="The target; `rdc targets` lists them.",
)
@click.option("--source", default="", metavar="SOURCE", help="Where CI installs rdc from: the URL of its wheel.")
@click.option("--from", "pages", metavar="FILE", multiple=True, help="Import a page as a first document.")
@click.option("-q", "--quiet", is_flag=True, help="Print only findings.")
def command(folder: str, kind: str, target: str, source: str, pages: tuple[str, ...], *, quiet: bool) -> int:
    """Start a project: configuration, a first document, hook and CI.

    Writes rdc.toml, a document unless you have one of that kind, a pre-commit hook, a workflow that runs `rdc build
    --check`, and an exclusion for Dependabot. Then it builds the project. Existing files stay unchanged. With --from,
    the first documents are drafts of pages, as `rdc import` writes them.
    """
    files = [os.path.realpath(page) for page in pages]
    root = _entered(folder)
    made = _imported(files, kind)
    try:
        started = start(root, Wanted(kind, target, source, made.files))
    except OSError as error:
        raise click.ClickException(f"cannot start a project: {error.filename}: {error.strerror}") from error
    reporter = Reporter(quiet=quiet)
    for path in started.written:
        reporter.say(f"wrote {path}")
    for line in report_lines(made):
        if not line.startswith("wrote "):
            reporter.say(line)
    for path in started.kept:
        reporter.say(f"kept {path}")
    for path, lines in started.lacking:
        tell(f"add these lines to {path}:\n\n{lines}")
    if any("build]]" in lines for _, lines in started.lacking):
        return 1
    code = build.main(["--quiet"] if quiet else [], prog_name="rdc build", standalone_mode=False)
    if CHECK in started.written and not source and not quiet:
        tell(f"next: in {CHECK}, set RDC_SOURCE to the URL of rdc's wheel")
    return int(code)


def _imported(pages: Sequence[str], kind: str) -> Made:
    """Return the drafts of pages; each page must have one."""
    if pages and kind != DRAFTED:
        raise click.UsageError(f"--from imports pages for --kind {DRAFTED}")
    try:
        made = import_all([Place(os.path.relpath(page), folder_of(kind)) for page in pages], Options())
    except UnfitError as error:
        raise click.UsageError(str(error)) from None
    if refused := made.reports.refused:
        raise click.UsageError(f"{refused[0].source}: {refused[0].message}")
    return made


def _entered(folder: str) -> str:
    place = os.path.realpath(folder)
    root = project_around(place).root
    if root != place:
        raise click.UsageError(f"{folder} is inside the project {root}; run 'rdc init' there")
    Path(place).mkdir(parents=True, exist_ok=True)
    os.chdir(place)
    return place
