"""The documents of a command: `FILE`, `DIR`, `-`, or none for the whole project."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from rdc.commands.reporter import Command
from rdc.documents import Found


def documents_argument(command: Command) -> Command:
    """Add the argument `files` to a command: files, folders, or `-` for standard input; none for the project."""
    kind = click.Path(allow_dash=True)
    return click.argument("files", metavar="[FILE|DIR|-]...", nargs=-1, type=kind)(command)


def refuse_for_standard_output(files: Sequence[str], form: str) -> None:
    """Reject options that conflict with `-`, which writes the document to standard output."""
    context = click.get_current_context()
    if len(files) > 1:
        raise click.UsageError("- writes to standard output; remove the other files", context)
    if form != "text":
        raise click.UsageError(f"- and --format {form} both write to standard output; remove one of them", context)


def refuse_output(documents: Sequence[Found], out: str | None) -> None:
    """Reject an output for the wrong number of documents: standard output takes one, and a folder needs a folder."""
    context = click.get_current_context()
    folder = next((found.folder for found in documents if found.folder), "")
    if out == "-" and (folder or len(documents) > 1):
        which = f"{folder} is a folder" if folder else f"you gave {len(documents)}"
        raise click.UsageError(f"-o - accepts only one document, but {which}; choose a folder with -o", context)
    if folder and out and not out.endswith("/") and not os.path.isdir(out):  # noqa: PTH112 (it takes any path)
        raise click.UsageError(f"{folder} is a folder, so the output must be one, too: use -o {out}/", context)
