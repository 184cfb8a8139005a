"""Writes results to standard output and messages to standard error, and counts in words."""

from __future__ import annotations

import io
import os
import sys

import click


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
