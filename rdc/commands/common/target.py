"""The options of a target: `--to TARGET`, `-O KEY=VALUE` and `--prompts CHOICE`."""

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from click.shell_completion import CompletionItem
from msgspec import Struct

from backends.base import Backend
from backends.registry import is_target, load, names
from compiler.diagnostics.issues import InvalidError
from rdc.commands.common.reporter import Command
from rdc.output.target_options import check_words
from rdc.terminal.output import PointingError, UnknownWordError


class Target(Struct, frozen=True):
    """A backend with its options on the command line, which override those in documents and project."""

    backend: Backend[Any]
    options: Mapping[str, object]


def target_options(command: Command) -> Command:
    """Add `--to`, `-O` and `--prompts` to a command, which gets them as its argument `target`."""

    @click.option(
        "--to",
        "name",
        metavar="TARGET",
        required=True,
        callback=known_target,
        shell_complete=complete_target,
        help="The target; `rdc targets` lists them.",
    )
    @click.option(
        "-O",
        "--option",
        "options",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_pairs,
        help="An option of the target, which overrides document and project. `rdc targets TARGET` lists them.",
    )
    @click.option("--prompts", metavar="CHOICE", help="Who answers questions; short for -O prompts=CHOICE.")
    @functools.wraps(command)
    def wrapped(*, name: str, options: dict[str, str], prompts: str | None, **rest: object) -> int:
        if prompts is not None:
            if options.get("prompts", prompts) != prompts:
                raise click.UsageError("--prompts and -O prompts=... have different values; remove one of them")
            options = {**options, "prompts": prompts}
        return command(target=find_target(name, options), **rest)

    return wrapped


@contextmanager
def misuse_told(backend: Backend[Any]) -> Iterator[None]:
    """Turn an `InvalidError` into a usage error."""
    try:
        yield
    except InvalidError as error:
        raise PointingError(f"target {backend.name}: {error}", f"rdc targets {backend.name}") from None


def find_target(name: str, words: Mapping[str, str]) -> Target:
    """Return a known target with options of the command line."""
    backend = load(name)
    with misuse_told(backend):
        return Target(backend, check_words(backend, words))


def known_target(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    """Return the name; an unknown target is a usage error."""
    if name is not None and not is_target(name):
        raise UnknownWordError("target", name, names(), "rdc targets")
    return name


def complete_target(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the targets whose names start with the typed word."""
    return [CompletionItem(name, help=load(name).summary) for name in names() if name.startswith(begun)]


def _pairs(_: click.Context, __: click.Parameter, options: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not (key and equals):
            raise click.UsageError(f"-O needs KEY=VALUE, not '{option}'")
        pairs[key] = value
    return pairs
