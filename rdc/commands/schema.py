"""`rdc schema`: the JSON Schemas of rdc's input files, for editors and other tools."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from compiler.schemas import SCHEMAS
from rdc.terminal import put
from rdc.usage import UnknownWordError


def _known(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    if name is None or name in SCHEMAS:
        return name
    raise UnknownWordError("schema", name, SCHEMAS, "rdc schema")


def _complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    return [CompletionItem(name, help=known.summary) for name, known in SCHEMAS.items() if name.startswith(begun)]


@click.command(name="schema")
@click.argument("name", metavar="[NAME]", required=False, callback=_known, shell_complete=_complete)
def command(name: str | None) -> int:
    """List the JSON Schemas, or print one of them.

    Editors use them to complete and check documents. In YAML, write this above a document:

    \b
    # yaml-language-server: $schema=agent-workflow.schema.json
    """  # noqa: D301 (\b is what click takes for a paragraph not to be filled)
    if name is not None:
        put(SCHEMAS[name].text().removesuffix("\n"))
        return 0
    width = max(map(len, SCHEMAS))
    put("\n".join(f"{one:{width}}  {known.summary}" for one, known in SCHEMAS.items()))
    return 0
