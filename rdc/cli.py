"""The entry point: runs a command, and turns any error into one line and an exit code.

Exit codes: 0 success, 1 findings, 2 usage error, 70 internal error, 130 interrupted, 141 no one reads the output. (`rdc
run` has the program's exit codes.) A command is a click command that returns its exit code.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click
from click.shell_completion import shell_complete

from rdc import __version__
from rdc.commands import COMMANDS, COMPLETION_VARIABLE, PROGRAM, load
from rdc.terminal.cells import visible
from rdc.terminal.output import UnknownWordError, abandon_output, accept_any_text, put, tell, usage_line

EXIT_FINE, EXIT_FINDINGS, EXIT_USAGE, EXIT_DEFECT, EXIT_INTERRUPTED, EXIT_PIPE = 0, 1, 2, 70, 130, 141
"""`docs/reference/exit-codes.md` describes each."""


class LazyGroup(click.Group):
    """A group that imports a command at its first use, so that `rdc check` doesn't load the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click passes it)
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 (click passes it)
        cmd_name: str,
    ) -> click.Command | None:
        """Return the listed summary of a command, or None."""
        summary = COMMANDS.get(cmd_name)
        return None if summary is None else click.Command(cmd_name, short_help=summary)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command of the arguments. click cannot suggest names for a lazy group."""
        name = args[0]
        if name in COMMANDS:
            return name, load(name), args[1:]
        if name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        raise UnknownWordError("command", name, COMMANDS, "rdc --help")


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 1 findings, 2 usage error.",
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> int:
    """Compile workflow documents into programs that run everywhere."""
    if context.invoked_subcommand is None:
        put(context.get_help())
    return EXIT_FINE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run rdc.

    Returns:
        The exit code. No exception leaves this function.
    """
    accept_any_text()
    try:
        return _dispatch(list(sys.argv[1:] if arguments is None else arguments))
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        tell(f"{PROGRAM}: {usage_line(error)}")
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        abandon_output()
        return EXIT_PIPE
    except OSError as error:
        if error.filename is not None or error.errno is None:
            return _confess(error)
        abandon_output()  # click's own output, such as help, was not written
        tell(f"{PROGRAM}: cannot write to standard output: {error.strerror}")
        return EXIT_FINDINGS
    except Exception as error:  # noqa: BLE001 (the last resort: users should see no traceback unless they ask for it)
        return _confess(error)


def _dispatch(arguments: list[str]) -> int:
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        return _complete(instruction)
    with cli.make_context(PROGRAM, arguments, terminal_width=_width()) as context:
        status = int(cli.invoke(context))
    if sys.stdout is not None:
        sys.stdout.flush()
    return status


def _width() -> int:
    """Return click's width for help. click itself uses `shutil`, which imports three compression libraries."""
    given = os.environ.get("COLUMNS", "")
    columns = int(given) if given.isascii() and given.isdigit() else 0
    if not columns:
        with suppress(OSError):  # standard output is not a terminal, or is closed
            columns = os.get_terminal_size().columns
    return max(min(columns or 80, 80) - 2, 50)


def _complete(instruction: str) -> int:
    """Answer the shell's Tab key. A message would disturb the user's typing."""
    try:
        return shell_complete(cli, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    except (KeyError, ValueError):  # COMP_WORDS and COMP_CWORD are not set as a shell does it
        return 1


def _confess(error: Exception) -> int:
    if os.environ.get("RDC_DEBUG"):
        sys.excepthook(type(error), error, error.__traceback__)
    else:
        what = visible(f"{type(error).__name__}: {error}")
        tell(f"{PROGRAM}: internal error: {what} (for a traceback, set RDC_DEBUG=1)")
    return EXIT_DEFECT
