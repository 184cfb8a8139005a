"""`rdc targets`: what documents can be compiled to."""

from __future__ import annotations

import click

from rdc.terminal import put


@click.command(name="targets")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(form: str) -> int:
    """List the targets: name, ending of the generated files, and what they are."""
    from backends.registry import load, names  # noqa: PLC0415 (the backends are slow to import)

    backends = [load(name) for name in names()]
    if form == "json":
        import json  # noqa: PLC0415 (only for this format)

        fields = ("name", "summary", "suffix", "executable")
        rows = [{field: getattr(backend, field) for field in fields} for backend in backends]
        put(json.dumps({"version": 1, "targets": rows}, indent=2))
        return 0
    width = max(len(backend.name) for backend in backends)
    endings = max(len(backend.suffix) for backend in backends)
    put(
        "\n".join(
            f"{backend.name:{width}}  {backend.suffix:{endings}}  {backend.summary}" for backend in backends
        )
    )
    return 0
