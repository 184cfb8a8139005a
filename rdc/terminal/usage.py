"""Usage errors of the command line, in one line."""

from __future__ import annotations

from collections.abc import Iterable

import click

from compiler.text.suggestions import nearest_names
from rdc.terminal.cells import visible


class PointingError(click.UsageError):
    """A usage error, with a command that shows the correct usage."""

    def __init__(self, message: str, see: str) -> None:
        super().__init__(message)
        self.see = see


class UnknownWordError(PointingError):
    """An unknown word, with similar known words, and the command that lists them all."""

    def __init__(self, kind: str, word: str, known: Iterable[str], see: str) -> None:
        near = nearest_names(word, known, 3)
        super().__init__(f"unknown {kind} '{word}'{_did_you_mean(near)}", see)


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
