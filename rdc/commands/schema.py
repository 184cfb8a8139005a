"""`rdc schema`: the JSON Schemas of rdc's input files, for editors and other tools."""

import json
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem
from msgspec import Struct

from rdc.terminal.output import UnknownWordError, put


class Schema(Struct, frozen=True):
    """A published schema: a summary, and the module whose function `schema` creates it.

    If a module creates several schemas, `about` is the argument that selects one.
    """

    summary: str
    module: str
    about: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the schema as published."""
        made: dict[str, Any] = import_module(self.module).schema(*self.about)
        return json.dumps(made, indent=2, sort_keys=True) + "\n"


_RECORDS = ("approvals", "artifacts", "drrs", "events", "evidence", "gates", "manifest", "timeline", "tool_results")

SCHEMAS: dict[str, Schema] = {
    "agent-workflow": Schema("agent workflows", "compiler.frontends.agent_workflow.syntax"),
    "import": Schema("reports of rdc import", "compiler.importers.report"),
    "program": Schema("programs as JSON", "compiler.frontends.json.shapes"),
    "project": Schema("rdc.toml", "rdc.documents.table"),
    **{
        f"run-{name.replace('_', '-')}": Schema(f"a run's {name}.json", "compiler.frontends.stepspec.records", (name,))
        for name in _RECORDS
    },
    "step-specs": Schema("step specifications", "compiler.frontends.stepspec.syntax"),
}


def _known(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    if name is None or name in SCHEMAS:
        return name
    raise UnknownWordError("schema", name, SCHEMAS, "rdc schema")


def _complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    return [CompletionItem(name, help=known.summary) for name, known in SCHEMAS.items() if name.startswith(typed)]


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
