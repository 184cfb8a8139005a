"""The options that say how documents are read: `--from FORMAT` and `--transitions`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from rdc.commands.reporter import Command

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from compiler.options import Layout


def language_options(command: Command) -> Command:
    """Give a command `--from` and `--transitions`; it gets them as its argument `settings`."""

    @click.option(
        "--from",
        "front_end",
        metavar="FORMAT",
        callback=_known,
        shell_complete=_complete,
        help="The format of the documents, if their names and contents do not tell.",
    )
    @click.option(
        "--transitions",
        type=click.Choice(["after-header", "after-body"]),
        help="Where the transitions of a unit stand, if not as the document or the project says.",
    )
    @functools.wraps(command)
    def wrapped(*, front_end: str | None, transitions: Layout | None, **rest: object) -> int:
        from compiler.driver import Settings  # noqa: PLC0415 (the compiler is slow to import)

        return command(settings=Settings(front_end, transitions), **rest)

    return wrapped


def _known(context: click.Context, _: click.Parameter, name: str | None) -> str | None:
    if name is None:
        return None
    from compiler.frontends import FRONT_ENDS  # noqa: PLC0415 (the compiler is slow to import)

    if name not in FRONT_ENDS:
        raise click.UsageError(f"no source format '{name}': rdc reads {', '.join(FRONT_ENDS)}", context)
    return name


def _complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 (only on the Tab key)

    from compiler.frontends import FRONT_ENDS  # noqa: PLC0415

    forms = [form for form in FRONT_ENDS.values() if form.name.startswith(begun)]
    return [CompletionItem(form.name, help=form.summary) for form in forms]
