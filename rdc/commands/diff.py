"""`rdc diff`: what changed between two versions of a document, as flows."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from rdc.commands.language import language_options
from rdc.commands.reporter import Reporter, strictness_options
from rdc.terminal import put

if TYPE_CHECKING:
    from compiler.driver import Compilation, Settings
    from rdc.changes import Version


class Place(NamedTuple):
    """Where a version of the document is: a file, in a revision of git or ("" for none) as it lies there."""

    revision: str
    file: str

    @property
    def shown(self) -> str:
        """What messages call it."""
        return f"{self.revision}:{self.file}" if self.revision else self.file


@click.command(name="diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--format", "wanted", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--exit-code", "exits", is_flag=True, help="End with 1 if something changed.")
@language_options
@strictness_options
def command(old: str, new: str, wanted: str, settings: Settings, reporter: Reporter, *, exits: bool) -> int:
    """Compare two documents as flows.

    OLD and NEW are files, or files in a revision of git (`HEAD~1:deploy.runbook.md`). OLD may be just a revision; it
    then stands for NEW in that revision.
    """
    from backends.difference import difference  # noqa: PLC0415 (the compiler is slow to import)
    from backends.picture import picture  # noqa: PLC0415
    from rdc.changes import as_json, as_text  # noqa: PLC0415

    versions = _compiled(_place(old, new), _place(new, None), settings, reporter)
    if versions is None:
        return 1
    before, after = versions
    found = difference(picture(before.program), picture(after.program))
    put((as_json if wanted == "json" else as_text)(found, before, after))
    return int(exits and bool(found))


def _place(word: str, other: str | None) -> Place:
    """What OLD or NEW means: a file, before all else; then a file in a revision; then a revision of the other file."""
    if Path(word).exists():
        return Place("", word)
    revision, colon, file = word.partition(":")
    if colon and revision and file:
        return Place(revision, file)
    return Place(word, other) if other is not None else Place("", word)


def _compiled(old: Place, new: Place, settings: Settings, reporter: Reporter) -> tuple[Version, Version] | None:
    """Both versions, or None if one has errors, which are then reported."""
    from rdc.changes import Version  # noqa: PLC0415 (the compiler is slow to import)

    with ExitStack() as stack:
        compilations = [_compile(place, settings, stack) for place in (old, new)]
        report = reporter.gather(
            (found for compilation in compilations for found in compilation.diagnostics if compilation.program is None),
            {path: source for compilation in compilations for path, source in compilation.sources.items()},
        )
        reporter.show(report)
    programs = [compilation.program for compilation in compilations]
    if programs[0] is None or programs[1] is None:
        return None
    return Version(old.shown, programs[0]), Version(new.shown, programs[1])


def _compile(place: Place, settings: Settings, stack: ExitStack) -> Compilation:
    from compiler.driver import compile_file  # noqa: PLC0415 (the compiler is slow to import)
    from rdc.revision import RevisionError, checked_out  # noqa: PLC0415 (git is asked for revisions only)

    if not place.revision:
        return compile_file(place.file, settings)
    try:
        path = stack.enter_context(checked_out(place.revision, place.file))
    except RevisionError as error:
        raise click.UsageError(f"cannot read {place.shown}: {error}", click.get_current_context()) from None
    compilation = compile_file(path, settings)
    around = path.removesuffix(place.file)  # what is included stands around it, and is in the revision too

    def shown(name: str) -> str:
        return f"{place.revision}:{name.removeprefix(around)}"

    return compilation._replace(
        diagnostics=tuple(replace(found, path=shown(found.path)) for found in compilation.diagnostics),
        sources={shown(name): source for name, source in compilation.sources.items()},
    )
