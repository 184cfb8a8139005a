"""Writes results to standard output, messages and usage errors to standard error, and counts in words."""

import io
import os
import sys
from collections.abc import Iterable

import click

from compiler.text.suggestions import nearest_names
from rdc.terminal.cells import visible


def put(result: str | bytes) -> None:
    """Write a result to standard output: a string with a line break, bytes unchanged.

    Raises:
        BrokenPipeError: No one reads the output; `rdc.cli` then exits silently.
        click.ClickException: Standard output failed, for example on a full disk.
    """
    try:
        click.echo(result, nl=isinstance(result, str), color=color())
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon_output()
        raise click.ClickException(f"cannot write to standard output: {error.strerror}") from error


def tell(message: str) -> None:
    """Write a message to standard error, with a line break."""
    click.echo(message, err=True, color=color())


def color() -> bool | None:
    """Return whether to use color, from the environment; None to use color on a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return False if os.environ.get("TERM") == "dumb" else None


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def shows_links() -> bool:
    """Whether standard error is a terminal, where text can be a link."""
    return sys.stderr is not None and sys.stderr.isatty() and color() is not False


def accept_any_text() -> None:
    """Let standard output accept any text in any locale: it escapes unsupported characters."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def abandon_output() -> None:
    """Discard the rest of standard output, so that Python does not try to write it at exit."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def many(count: int, what: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


class PointingError(click.UsageError):
    """A usage error, with a command that shows the correct usage."""

    def __init__(self, message: str, see: str) -> None:
        super().__init__(message)
        self.see = see


class UnknownWordError(PointingError):
    """An unknown word, with similar known words, and the command that lists them all."""

    def __init__(self, kind: str, word: str, known: Iterable[str], see: str) -> None:
        super().__init__(f"unknown {kind} '{word}'{_did_you_mean(nearest_names(word, known, 3))}", see)


def usage_line(error: click.ClickException) -> str:
    """Return the line for an error, such as `no such option --foo (see 'rdc compile --help')`."""
    text = error.format_message()
    if isinstance(error, click.NoSuchOption):
        # Options look more alike than words, so only a very close one is suggested.
        near = nearest_names(error.option_name, error.possibilities or [], 1, 0.75)
        text = f"no such option {error.option_name}{_did_you_mean(near)}"
    text = " ".join(text.split()).rstrip(".")
    text = visible(text[:1].lower() + text[1:])
    if isinstance(error, PointingError):
        return f"{text} (see '{error.see}')"
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{text} (see '{context.command_path} --help')" if context else text


def _did_you_mean(near: list[str]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""
