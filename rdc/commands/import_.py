"""`rdc import`: turns pages, skills and recipes of justfiles into drafts."""

import click
import msgspec
from msgspec.structs import replace

from compiler.importers.page import Options
from compiler.importers.report import Import
from rdc.importing.files import Made, Place, UnfitError, changed_origin, import_all, places_of, report_lines
from rdc.importing.just import is_justfile
from rdc.output.write import write_all
from rdc.terminal.cells import visible
from rdc.terminal.output import put, tell


@click.command(name="import")
@click.argument("source", metavar="FILE|DIR|-", type=click.Path(allow_dash=True))
@click.option(
    "--from",
    "kind",
    type=click.Choice(["page", "skill", "just"]),
    help="The kind of file, if its name doesn't show it.",
)
@click.option(
    "-o", "--out", metavar="FILE|DIR|-", help="The draft, or the folder of the drafts. The default is beside the page."
)
@click.option("--recipe", metavar="NAME", help="The recipe of a justfile.")
@click.option("--inputs", metavar="NAMES", help="Words that are values, such as `NODE,cluster-a`.")
@click.option("--no-inputs", is_flag=True, help="Leave placeholders as written, and only show such commands.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--check", "checks", is_flag=True, help="Fail if the page of this draft has changed since its import.")
def command(source: str, out: str | None, form: str, *, no_inputs: bool, checks: bool, **given: str | None) -> int:
    """Turn pages, skills and justfiles into drafts, with a report of each guess.

    The draft is PAGE.runbook.md beside the page, or NAME.runbook.md for a skill or recipe. rdc never overwrites a file.
    A folder gives one draft for each page with a procedure. Nothing of a page is lost. A draft runs only commands that
    rdc knows, with a shell tag or a `$ ` prompt. The report goes to standard error and lists each guess.

    Exit codes: 0 wrote a draft, 1 no file has a procedure (with --check: the page has changed), 2 usage error or
    refusal.
    """
    try:
        if checks:
            return _check(source)
        made = import_all(
            _places(source, out, given["kind"] or "", given["recipe"] or ""),
            _options(given["inputs"], no_inputs=no_inputs),
        )
    except UnfitError as error:
        raise click.UsageError(str(error)) from None
    if form == "json" and any(not file.path.name for file in made.files):
        raise click.UsageError("-o - and --format json both write to standard output; remove one of them")
    _write(made)
    if form == "json":
        put(msgspec.json.format(msgspec.json.encode(made.reports), indent=2).decode())
    else:
        for line in report_lines(made):
            tell(visible(line))
    return _status(made.reports)


def _places(source: str, out: str | None, kind: str, recipe: str) -> list[Place]:
    places = [replace(place, kind=kind, recipe=recipe) for place in places_of(source, out)]
    if recipe and kind != "just" and not all(is_justfile(place.page) for place in places):
        raise click.UsageError("--recipe needs a justfile")
    return places


def _options(inputs: str | None, *, no_inputs: bool) -> Options:
    if inputs and no_inputs:
        raise click.UsageError("--inputs and --no-inputs exclude each other; remove one of them")
    return Options(tuple(filter(None, (word.strip() for word in (inputs or "").split(",")))), not no_inputs)


def _check(draft: str) -> int:
    changed = changed_origin(draft)
    if changed:
        tell(visible(changed))
    return int(bool(changed))


def _write(made: Made) -> None:
    try:
        write_all([file for file in made.files if file.path.name])
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from error
    for file in made.files:
        if not file.path.name:
            put(file.data)


def _status(reports: Import) -> int:
    if reports.drafts:
        return 0
    return 1 if all(one.kind == "no-procedure" for one in reports.refused) else 2
