"""`rdc run`: runs a document in place, with the runtime of generated Python files."""

import os
import shlex

import click

from backends.python.step_calls import author_calls
from compiler.driver import Settings, compile_file
from compiler.passes import optimize
from rdc.calls.mock_option import MockRuns
from rdc.commands.common.documents import language_options
from rdc.commands.common.reporter import Reporter
from rdc.runs.status import take_moved
from runtime_shim.editions import main
from runtime_shim.engine.outcomes import Host


# Arguments after FILE belong to the program, so click must not look for options there.
@click.command(name="run", context_settings={"allow_interspersed_args": False})
@click.argument("file", type=click.Path())
@click.argument("arguments", metavar="[ARGUMENT]...", nargs=-1, type=click.UNPROCESSED)
@language_options
def command(file: str, arguments: tuple[str, ...], settings: Settings) -> int:
    """Run a document in place.

    This is the same as compiling it to Python and running that file with these arguments. Errors and warnings of the
    document come first. rdc's own options come before FILE. All later arguments go to the program. Without a
    subcommand, it starts a run. `rdc run FILE --help` shows its subcommands and options.

    Exit codes: 0 complete, 1 stopped, 2 usage error or errors in the document, 75 waiting for an answer, 130
    interrupted.
    """
    compilation = compile_file(file, settings)
    has_subcommand = arguments and (not arguments[0].startswith("-") or arguments[0] in ("-h", "--help"))
    words = list(arguments) if has_subcommand else ["run", *arguments]
    if compilation.program is None or words[0] == "run":  # before anything runs
        Reporter(quiet=compilation.program is not None).report(compilation.diagnostics, compilation.sources)
    if compilation.program is None:
        return 2
    home = os.path.relpath(compilation.project.root)
    host = Host(_called(file, settings), home="" if home == "." else home, moved=take_moved)
    return main(author_calls(optimize(compilation.program)).built(), words, host, (MockRuns,))


def _called(file: str, settings: Settings) -> str:
    given = [("--from", settings.front_end), *((f"--{name}", words) for name, words in settings.options.items())]
    listed = [(option, [words] if isinstance(words, str) else words or ()) for option, words in given]
    options = [each for option, words in listed for word in words for each in (option, word)]
    return shlex.join(["rdc", "run", *options, file])
