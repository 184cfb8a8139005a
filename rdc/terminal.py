"""What goes to standard output and standard error: results to the one, messages to the other."""

from __future__ import annotations

import io
import os
import sys

import click


def put(result: str | bytes) -> None:
    """Write a result to standard output: a text with a line end after it, bytes as they are.

    Raises:
        BrokenPipeError: Nobody reads on; `rdc.cli` ends quietly then.
        click.ClickException: Standard output cannot take it, as on a full disk.
    """
    try:
        click.echo(result, nl=isinstance(result, str), color=color())
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon_output()
        raise click.ClickException(f"cannot write to standard output: {error.strerror}") from error


def tell(message: str) -> None:
    """Write a message to standard error, with a line end after it."""
    click.echo(message, err=True, color=color())


def color() -> bool | None:
    """Whether to color: what the environment asks for, or None to color what goes to a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return False if os.environ.get("TERM") == "dumb" else None


def is_terminal() -> bool:
    """Whether standard output is shown on a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def shows_links() -> bool:
    """Whether standard error is a terminal, where text can be a link."""
    return sys.stderr is not None and sys.stderr.isatty() and color() is not False


def accept_any_text() -> None:
    """Let standard output take every text in every locale: it escapes what it cannot say."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def abandon_output() -> None:
    """Throw away what standard output has not taken, so that Python does not try again as it ends."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
