"""`rdc runtime`: the texts that Python programs have in common, for those who approve them once per release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rdc.terminal import put

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _known(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    from runtime_shim.editions import CALLERS, EDITIONS  # noqa: PLC0415 (slow to import)

    if name is None or name in EDITIONS or name in CALLERS:
        return name
    from rdc.usage import UnknownWordError  # noqa: PLC0415 (only for the error)

    raise UnknownWordError("edition", name, [*EDITIONS, *CALLERS], "rdc runtime --sha256")


def _complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 (only on the Tab key)

    from runtime_shim.editions import CALLERS, EDITIONS  # noqa: PLC0415

    return [CompletionItem(name) for name in (*EDITIONS, *CALLERS) if name.startswith(begun)]


@click.command(name="runtime")
@click.argument("name", metavar="[NAME]", required=False, callback=_known, shell_complete=_complete)
@click.option("--diff", "old", metavar="OLD_FILE", type=click.Path(), help="Show what changed since an older file.")
@click.option("--sha256", "hashes", is_flag=True, help="Print the hash of each edition, as sha256sum does.")
def command(name: str | None, old: str | None, *, hashes: bool) -> int:
    """Print the runtime edition NAME, exactly as programs have it; `make` is the part of programs that make calls.

    With --diff, OLD_FILE is a saved runtime or a Python program of any rdc version. Exit code 0 if its runtime is the
    same, 1 with a unified diff if it differs.
    """
    context = click.get_current_context()
    if hashes == (name is not None) or (old is not None and name is None):
        raise click.UsageError("give the NAME of an edition, or only --sha256", context)
    from backends.python.edition import sha256_of, text_of  # noqa: PLC0415 (slow to import)
    from runtime_shim.editions import CALLERS, EDITIONS  # noqa: PLC0415

    if name is None:
        put("\n".join(f"{sha256_of(text_of(each))}  {each}" for each in (*EDITIONS, *CALLERS)))
        return 0
    if old is None:
        put(text_of(name).encode())
        return 0
    return _compare(name, old, context)


def _compare(name: str, old: str, context: click.Context) -> int:
    from difflib import unified_diff  # noqa: PLC0415 (only for --diff)
    from pathlib import Path  # noqa: PLC0415

    from backends.python.edition import text_of  # noqa: PLC0415
    from backends.python.proof import runtime_in  # noqa: PLC0415
    from compiler.files import Refusal, read_source  # noqa: PLC0415
    from rdc.reporting.cells import visible  # noqa: PLC0415

    source = read_source(Path(old), old, old)
    if isinstance(source, Refusal):
        raise click.UsageError(f"{old}: {source.problem}", context)
    before, after = runtime_in(source.text), text_of(name)
    if before == after:
        return 0
    lines = unified_diff(before.split("\n"), after.split("\n"), old, f"edition {name}", lineterm="")
    put("\n".join(visible(line) for line in lines))
    return 1
