"""The documents of a command, and how to read them: `--from FORMAT`, and options such as `--transitions`."""

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from compiler.diagnostics.issues import InvalidError
from compiler.driver import Opened, Settings, open_file, open_standard_input
from compiler.frontends import FRONT_ENDS, all_options
from compiler.project.options import Level, Option
from rdc.commands.common.reporter import Command
from rdc.documents.find import STANDARD_INPUT, Found, NoDocumentsError, find_documents


def documents_argument(command: Command) -> Command:
    """Add the argument `files` to a command: files, folders, or `-` for standard input; none for the project."""
    return click.argument("files", metavar="[FILE|DIR|-]...", nargs=-1, type=click.Path(allow_dash=True))(command)


def documents_of(arguments: Sequence[str]) -> list[Found]:
    """Return the documents of the arguments, without arguments the project's. Finding none is a usage error."""
    try:
        return find_documents(arguments)
    except NoDocumentsError as error:
        raise click.UsageError(str(error)) from None


def open_documents(arguments: Sequence[str]) -> list[Opened]:
    """Open the documents of the arguments, including `-` for standard input."""
    paths = [found.path for found in documents_of(arguments)]
    return [open_standard_input() if path == STANDARD_INPUT else open_file(path) for path in paths]


def refuse_for_standard_output(files: Sequence[str], form: str) -> None:
    """Reject options that conflict with `-`, which writes the document to standard output."""
    if len(files) > 1:
        raise click.UsageError("- writes to standard output; remove the other files")
    if form != "text":
        raise click.UsageError(f"- and --format {form} both write to standard output; remove one of them")


def refuse_output(documents: Sequence[Found], out: str | None) -> None:
    """Reject an output for the wrong number of documents: standard output takes one, and a folder needs a folder."""
    folder = next((found.folder for found in documents if found.folder), "")
    if out == "-" and (folder or len(documents) > 1):
        which = f"{folder} is a folder" if folder else f"you gave {len(documents)}"
        raise click.UsageError(f"-o - accepts only one document, but {which}; choose a folder with -o")
    if folder and out and not out.endswith("/") and not os.path.isdir(out):  # noqa: PTH112 (it takes any path)
        raise click.UsageError(f"{folder} is a folder, so the output must be one, too: use -o {out}/")


Decorator = Callable[[Command], Command]
Words = str | tuple[str, ...] | None


def language_options(command: Command) -> Command:
    """Add `--from` and the options of the formats to a command, which gets them as its argument `settings`."""
    options = (option for option in all_options() if Level.COMMAND_LINE in option.levels)
    flags = {f"format_{option.name.replace('-', '_')}": option for option in options}

    @functools.wraps(command)
    def wrapped(*, front_end: str | None, **rest: Any) -> int:  # noqa: ANN401 (as click calls it)
        given = {option.name: rest.pop(name) for name, option in flags.items()}
        words = {name: word for name, word in given.items() if word}
        return command(settings=Settings(front_end, words), **rest)

    flagged: Command = wrapped
    for name, option in reversed(flags.items()):
        flagged = _flag(name, option)(flagged)
    return click.option(
        "--from",
        "front_end",
        metavar="FORMAT",
        callback=_known,
        shell_complete=_complete,
        help="The format of the documents, if rdc cannot detect it from names and content.",
    )(flagged)


def _flag(name: str, option: Option[Any]) -> Decorator:
    """Return the flag of an option. Its value is one string or several, which the front end parses."""

    def readable(_: click.Context, __: click.Parameter, word: Words) -> Words:
        try:
            if word:
                option.read(word, {})
        except InvalidError as error:
            raise click.UsageError(f"--{option.name}: {error}") from None
        return word

    kind = click.Choice(option.choices) if option.choices else None
    return click.option(
        f"--{option.name}",
        name,
        type=kind,
        metavar=option.metavar or None,
        multiple=option.is_repeated,
        callback=readable,
        help=option.help,
    )


def _known(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    if name is None:
        return None
    known = {form.word: form.name for form in FRONT_ENDS.values()}
    if name not in known:
        raise click.UsageError(f"unknown format '{name}'; use {', '.join(known)}")
    return known[name]


def _complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    forms = [form for form in FRONT_ENDS.values() if form.word.startswith(begun)]
    return [CompletionItem(form.word, help=form.summary) for form in forms]
