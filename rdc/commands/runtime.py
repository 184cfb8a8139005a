"""`rdc runtime`: the common parts of generated files, for people who approve them once per release."""

from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from backends.base import Backend
from backends.registry import BACKENDS, load
from compiler.text.files import FileIssue, read_source
from compiler.text.source import sha256_of
from rdc.terminal.cells import visible
from rdc.terminal.output import UnknownWordError, put


@cache
def _runtimes() -> dict[str, tuple[Backend[Any], str]]:
    targets = map(load, reversed(BACKENDS))
    return {name: (target, text) for target in targets for name, text in target.runtimes().items()}


def _known(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    if name is None or name in _runtimes():
        return name
    raise UnknownWordError("edition", name, _runtimes(), "rdc runtime --sha256")


def _complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in _runtimes() if name.startswith(typed)]


@click.command(name="runtime")
@click.argument("name", metavar="[NAME]", required=False, callback=_known, shell_complete=_complete)
@click.option("--diff", "old", metavar="OLD_FILE", type=click.Path(), help="Show the changes since an older file.")
@click.option("--sha256", "hashes", is_flag=True, help="Print the hashes of all runtimes, in the format of sha256sum.")
def command(name: str | None, old: str | None, *, hashes: bool) -> int:
    """Print the runtime of an edition, as generated programs contain it.

    NAME may also be `make-loop`, the loop of Makefiles; `make` and `github`, the parts that Makefiles and workflows
    call; `dbos-values`, `dbos-agents` or `dbos-stepspec`, a worker's part; `traces` and `shared_traces`, the part for
    traces in a program and beside one; or `publish`, the part that publishes for workflows.

    With --diff, OLD_FILE is a saved runtime, a Python program, a worker or a Makefile of any rdc version. Exit codes: 0
    success (with --diff: the runtime is the same), 1 it differs (and prints a unified diff), 2 usage error.
    """
    if hashes == (name is not None) or (old is not None and name is None):
        raise click.UsageError("give either the NAME of an edition or --sha256")
    if name is None:
        put("\n".join(f"{sha256_of(text)}  {each}" for each, (_, text) in _runtimes().items()))
        return 0
    if old is None:
        put(_runtimes()[name][1].encode())
        return 0
    return _compare(name, old)


def _compare(name: str, old: str) -> int:
    source = read_source(Path(old), old, old)
    if isinstance(source, FileIssue):
        raise click.UsageError(f"{old}: {source.message}")
    target, after = _runtimes()[name]
    before = target.runtime_in(name, source.text)
    if before == after:
        return 0
    lines = unified_diff(before.split("\n"), after.split("\n"), old, f"rdc runtime {name}", lineterm="")
    put("\n".join(visible(line) for line in lines))
    return 1
