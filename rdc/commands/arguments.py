"""The documents that a command is given: `FILE`, `DIR` and `-`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rdc.commands.reporter import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compiler.driver import Opened


def documents_argument(command: Command) -> Command:
    """Give a command its documents as the argument `files`: files, folders, `-` for standard input."""
    kind = click.Path(allow_dash=True)
    return click.argument("files", metavar="FILE|DIR|-...", nargs=-1, required=True, type=kind)(command)


def opened(files: Sequence[str]) -> list[Opened]:
    """The documents; a folder without any is wrong use."""
    from rdc.documents import NoDocumentsError, open_documents  # noqa: PLC0415 (the compiler is slow to import)

    try:
        return list(open_documents(files))
    except NoDocumentsError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None


def refuse_for_standard_output(files: Sequence[str], form: str) -> None:
    """Refuse what cannot go with `-` where the command writes the document to standard output."""
    context = click.get_current_context()
    if len(files) > 1:
        raise click.UsageError("- writes to standard output, so it takes no other files", context)
    if form != "text":
        raise click.UsageError(f"- and --format {form} both want standard output", context)
