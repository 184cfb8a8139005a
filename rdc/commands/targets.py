"""`rdc targets`: the targets, and the options of a target."""

import json
import shutil
import textwrap
from collections.abc import Sequence
from functools import partial
from typing import Any

import click
from msgspec.structs import asdict

from backends.base import Backend
from backends.options.model import Option, listed
from backends.registry import load, names
from rdc.commands.common.target import complete_target, known_target
from rdc.terminal.output import put

WIDEST = 100


@click.command(name="targets")
@click.argument("name", metavar="[TARGET]", required=False, callback=known_target, shell_complete=complete_target)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(name: str | None, form: str) -> int:
    """List the targets, or the options of TARGET.

    The list of targets has their names, the extension of the generated files, and the features that they support. The
    list of options has their types, defaults and descriptions.
    """
    if name is not None:
        backend = load(name)
        options = list(listed(backend.options))
        content = {"version": 1, "target": backend.name, "options": [asdict(option) for option in options]}
        put(json.dumps(content, indent=2, ensure_ascii=False) if form == "json" else _options(backend, options))
        return 0
    backends = [load(name) for name in names()]
    put(_json(backends) if form == "json" else _table(backends))
    return 0


def _options(backend: Backend[Any], options: Sequence[Option]) -> str:
    head = f"{backend.name}: {backend.summary}"
    if not options:
        return f"{head}\n\nThis target has no options."
    width = min(shutil.get_terminal_size().columns, WIDEST)
    wrap = partial(textwrap.wrap, width=width, break_on_hyphens=False, break_long_words=False)
    places = f"Set an option by `-O KEY=VALUE`, under `rdc: {{{backend.name}: ...}}` in the frontmatter, or "
    lines = [head, "", *wrap(f"{places}in the table `[{backend.name}]` of rdc.toml.")]
    for option in options:
        default = option.default_words if option.required else f"default: {option.default_words}"
        lines += ["", f"{option.name}  ({option.type}; {default})"]
        lines += wrap(option.description, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _table(backends: Sequence[Backend[Any]]) -> str:
    name_width = max(len(backend.name) for backend in backends)
    ending_width = max(len(backend.suffix) for backend in backends)
    return "\n".join(
        f"{backend.name:{name_width}}  {backend.suffix:{ending_width}}  {backend.summary}\n"
        f"{'':{name_width}}  {'':{ending_width}}  supports: {', '.join(sorted(backend.features))}"
        for backend in backends
    )


def _json(backends: Sequence[Backend[Any]]) -> str:
    facts = ("name", "suffix", "executable", "summary")
    rows = [{name: getattr(one, name) for name in facts} | {"features": sorted(one.features)} for one in backends]
    return json.dumps({"version": 1, "targets": rows}, indent=2)
