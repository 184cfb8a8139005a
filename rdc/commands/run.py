"""`rdc run`: a document is run in place, by the runtime that generated Python files carry."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from rdc.commands.language import language_options
from rdc.commands.reporter import Reporter

if TYPE_CHECKING:
    from compiler.driver import Settings


# What follows FILE belongs to the program: click must not look for options there.
@click.command(name="run", context_settings={"allow_interspersed_args": False})
@click.argument("file", type=click.Path())
@click.argument("arguments", metavar="[ARGUMENT]...", nargs=-1, type=click.UNPROCESSED)
@language_options
def command(file: str, arguments: tuple[str, ...], settings: Settings) -> int:
    """Run a document in place.

    It is the same as to compile it to Python and to run that file with these arguments. Options of rdc stand
    before FILE; all that follows it goes to the program, which runs if it is given no subcommand.
    `rdc run FILE --help` shows its subcommands and options.

    Exit codes: 0 complete, 1 stopped, 2 usage error or errors in the document, 75 waiting for an answer,
    130 interrupted.
    """
    from compiler.driver import compile_file  # noqa: PLC0415 (the compiler is slow to import)

    compilation = compile_file(file, settings)
    if compilation.program is None:
        reporter = Reporter()
        reporter.show(reporter.gather(compilation.diagnostics, compilation.sources))
        return 2
    from backends.python.table import table  # noqa: PLC0415 (not where there are errors)
    from compiler.passes import optimise  # noqa: PLC0415
    from rdc.plain_files import parse  # noqa: PLC0415
    from runtime_shim.editions import main  # noqa: PLC0415
    from runtime_shim.engine.lifecycle import Host  # noqa: PLC0415

    return main(table(optimise(compilation.program)), _with_subcommand(arguments), Host(_called(file, settings), parse))


def _called(file: str, settings: Settings) -> str:
    """The words that run this program: it says how to go on with them, and people paste that."""
    given = [("--from", settings.front_end), *((f"--{name}", words) for name, words in settings.options.items())]
    listed = [(option, [words] if isinstance(words, str) else words or ()) for option, words in given]
    options = [each for option, words in listed for word in words for each in (option, word)]
    return shlex.join(["rdc", "run", *options, file])


def _with_subcommand(arguments: tuple[str, ...]) -> list[str]:
    if arguments and (not arguments[0].startswith("-") or arguments[0] in ("-h", "--help")):
        return list(arguments)
    return ["run", *arguments]
