"""`rdc targets`: what documents can be compiled to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rdc.terminal import put

if TYPE_CHECKING:
    from backends.base import Backend


@click.command(name="targets")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(form: str) -> int:
    """List the targets.

    Shown are name, ending of the generated files, what they are, and the features of a program that they carry.
    """
    from backends.registry import load, names  # noqa: PLC0415 (the backends are slow to import)

    backends = [load(name) for name in names()]
    put(_json(backends) if form == "json" else _table(backends))
    return 0


def _table(backends: Sequence[Backend[Any]]) -> str:
    name_width = max(len(backend.name) for backend in backends)
    ending_width = max(len(backend.suffix) for backend in backends)
    return "\n".join(
        f"{backend.name:{name_width}}  {backend.suffix:{ending_width}}  {backend.summary}\n"
        f"{'':{name_width}}  {'':{ending_width}}  carries: {', '.join(sorted(backend.features))}"
        for backend in backends
    )


def _json(backends: Sequence[Backend[Any]]) -> str:
    rows = [
        {
            "name": backend.name,
            "suffix": backend.suffix,
            "executable": backend.executable,
            "summary": backend.summary,
            "features": sorted(backend.features),
        }
        for backend in backends
    ]
    return json.dumps({"version": 1, "targets": rows}, indent=2)
