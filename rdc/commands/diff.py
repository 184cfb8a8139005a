"""`rdc diff`: compares two versions of a document as flows."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from backends.picture.sheet import PictureBackend
from compiler.driver import Compilation, Settings, compile_file
from compiler.text.regex import Regex
from rdc.commands.common.documents import language_options
from rdc.commands.common.pictures import PICTURES, Format, PictureChoice, picture_options
from rdc.commands.common.reporter import Reporter, strictness_options
from rdc.commands.common.target import find_target, misuse_told
from rdc.diff.report import Comparison, Version
from rdc.documents.find import Found
from rdc.documents.git import RevisionError, checked_out, path_of
from rdc.output.generate import Generation, Product, emitted
from rdc.report.report import renamed
from rdc.report.rules import despite_rules
from rdc.terminal.output import put

FORMATS = {
    "text": Format("", ".diff.txt", prints=True),
    "json": Format("", ".diff.json", prints=True),
    **{name: replace(form, suffix=f".diff{form.suffix}") for name, form in PICTURES.items()},
}

_REVISION = Regex(r"(?P<revision>(?:[^:{]|\{[^}]*\})+):(?P<file>.+)", re.DOTALL)
"""A file in a revision. The revision may have colons in braces, for example in a time."""


class Place(Struct, frozen=True):
    """The place of a version: a file, in a git revision, or ("" for none) in the folder."""

    shown: str
    file: str
    revision: str = ""


@click.command(name="diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@picture_options(FORMATS, "text")
@click.option("--exit-code", "exits", is_flag=True, help="Exit with 1 if something changed.")
@language_options
@strictness_options
def command(old: str, new: str, picture: PictureChoice, settings: Settings, reporter: Reporter, *, exits: bool) -> int:
    """Compare two documents as flows.

    OLD and NEW are files, or files in a git revision (`HEAD~1:deploy.runbook.md`). If OLD is only a revision, it means
    NEW in that revision. Pictures show both versions and mark the changes.
    """
    # A word is first a file, then a file in a revision. OLD may be only a revision.
    after = _in_revision(new) or Place(new, new)
    before = Place(old, old) if _is_file(old) else _in_revision(old)
    places = before or replace(after, shown=f"{old}:{after.file}", revision=old), after
    compiled = [_compile(place, settings) for place in places]
    if not reporter.accepts(compiled):
        return 1
    versions = [
        Version(place.shown, one.program, one.tables)
        for place, one in zip(places, compiled, strict=True)
        if one.program
    ]
    compared = Comparison(versions[0], versions[1], folds="boxes" in picture.options)
    if picture.is_printed and picture.form.prints:
        put(compared.text() if picture.form is FORMATS["text"] else compared.json())
        code = 0
    else:
        made = _generated(compared, compiled, picture)
        beside = Path(after.file).name if after.revision else after.file  # for a revision, in the current folder
        code = picture.deliver([Found(beside)], made, reporter)
    return code or int(exits and bool(compared))


def _in_revision(word: str) -> Place | None:
    found = None if _is_file(word) else _REVISION.fullmatch(word)
    if found is None:
        return None
    with _misuse_told(word):
        return Place(word, path_of(found["file"]), found["revision"])


def _is_file(word: str) -> bool:
    """Return whether the path exists and is not a folder. Branches often have the name of a folder."""
    return os.path.exists(word) and not os.path.isdir(word)  # noqa: PTH110, PTH112 (they take any word)


def _compile(place: Place, settings: Settings) -> Compilation:
    if not place.revision:
        return despite_rules(compile_file(place.file, settings))
    with _misuse_told(place.shown), checked_out(place.revision, place.file) as folder:
        one = despite_rules(compile_file(folder.path, settings))
        found, sources = renamed(one.diagnostics, one.sources, lambda path: f"{place.revision}:{folder.name(path)}")
        return replace(one, diagnostics=tuple(found), sources=sources)


@contextmanager
def _misuse_told(word: str) -> Iterator[None]:
    try:
        yield
    except RevisionError as error:
        raise click.UsageError(f"cannot read {word}: {error}") from None


def _generated(compared: Comparison, compiled: Sequence[Compilation], picture: PictureChoice) -> Generation:
    sources = {path: source for one in compiled for path, source in one.sources.items()}
    if picture.form.prints:
        text = compared.file() if picture.form is FORMATS["text"] else compared.json()
        return Generation((Product(f"{text}\n".encode(errors="backslashreplace")),), (), sources)
    target = find_target(picture.form.target, picture.options)
    backend = target.backend
    assert isinstance(backend, PictureBackend)  # noqa: S101 (for mypy)
    new = replace(compiled[1], diagnostics=(), sources=sources)  # their diagnostics have been shown
    with misuse_told(backend):
        return emitted(
            new,
            backend,
            target.options,
            lambda _, options, __: backend.draw(compared.sheet(), backend.options.validated(options)),
        )
