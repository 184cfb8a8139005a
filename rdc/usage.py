"""Wrong use of the command line, said in one line."""

from __future__ import annotations

from collections.abc import Iterable

import click

from rdc.reporting.cells import visible


def usage_line(error: click.ClickException) -> str:
    """The line for a mistake, such as `no such option --foo (see 'rdc compile --help')`."""
    text = " ".join(_words(error).split()).rstrip(".")
    text = visible(text[:1].lower() + text[1:])
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{text} (see '{context.command_path} --help')" if context else text


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A clause with those of the known words that `word` comes near to, or "" if there are none."""
    # Only a mistake needs it: it would cost every start of rdc some milliseconds.
    from difflib import get_close_matches  # noqa: PLC0415

    near = get_close_matches(word, list(known))
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _words(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        return (
            f"no such option {error.option_name}{did_you_mean(error.option_name, error.possibilities or ())}"
        )
    return error.format_message()
