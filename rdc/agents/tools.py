"""The tools of the server: their arguments, their one result, and their descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations
from msgspec import UNSET, Meta, Struct, UnsetType

RunName = Annotated[str, Meta(description="`run` of a result, such as deploy.runbook.md@mcp")]
At = Annotated[str, Meta(description="`at` of the last result")]


class List(Struct, frozen=True, forbid_unknown_fields=True):
    """List the documents with their inputs and runs."""


class Status(Struct, frozen=True, forbid_unknown_fields=True):
    """Show the current step of a run and its last outcomes."""

    run: RunName


class Start(Struct, frozen=True, forbid_unknown_fields=True):
    """Start a run of a document, or take up its unfinished run. This runs no step."""

    document: str
    name: Annotated[str, Meta(description="the name of the run")] = "mcp"
    inputs: dict[str, str] = {}


class Next(Struct, frozen=True, forbid_unknown_fields=True):
    """Let rdc or the user do the current step. If the result is `running`, call it again with the same `at`."""

    run: RunName
    at: At


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """Record your answer to the current step, if its `by` is agent."""

    run: RunName
    at: At
    answer: str
    entry: Annotated[str, Meta(description="the entry of a parallel step")] = ""


class Entry(Struct, frozen=True, omit_defaults=True):
    """An entry of a parallel step."""

    entry: str
    text: str = ""
    answered: bool = False


class Step(Struct, frozen=True, omit_defaults=True):
    """The current step: `by` is who does it, `rdc`, `agent` or `person`."""

    id: str
    title: str
    by: str
    text: str = ""
    command: str = ""
    replies: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    attempt: int = 1


class Done(Struct, frozen=True):
    """A finished step."""

    step: str
    title: str
    outcome: str


class Document(Struct, frozen=True, omit_defaults=True):
    """A document with the names of its inputs, `?` after those with a default, and its runs with their states."""

    document: str
    title: str = ""
    inputs: tuple[str, ...] = ()
    runs: dict[str, str] = {}


class Result(Struct, frozen=True, omit_defaults=True):
    """The result of every tool. A refusal has its reason in `message`."""

    message: str
    hint: str
    run: str = ""
    state: str = ""
    at: str = ""
    step: Step | UnsetType = UNSET
    done: tuple[Done, ...] = ()
    output: str = ""
    output_bytes: int = 0
    resumed: bool = False
    documents: tuple[Document, ...] = ()


Arguments = List | Status | Start | Next | Report

HINTS: Mapping[type[Arguments], ToolAnnotations] = {
    List: ToolAnnotations(read_only_hint=True, open_world_hint=False),
    Status: ToolAnnotations(read_only_hint=True, open_world_hint=False),
    Start: ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
    Next: ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True),
    Report: ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
}
"""The tools, with the hints for hosts."""

_SHOWN = ("type", "description", "additionalProperties")
"""What a tool's schema shows of an argument."""

KINDS: Mapping[str, type[Arguments]] = {kind.__name__.lower(): kind for kind in HINTS}


class InvalidCallError(Exception):
    """A call of a tool that does not exist, or with other arguments."""


def read_call(name: str, arguments: object) -> Arguments:
    """Return the call of a tool; raises `InvalidCallError`."""
    if name not in KINDS:
        raise InvalidCallError(f"there is no tool {name!a}; the tools are {', '.join(KINDS)}")
    try:
        return msgspec.convert(arguments or {}, KINDS[name])
    except msgspec.ValidationError as error:
        raise InvalidCallError(f"{name}: {error}") from None


def tool_list() -> list[Tool]:
    """Return the tools as hosts list them."""
    _, schemas = msgspec.json.schema_components([*HINTS, Result], ref_template="{name}")
    return [
        Tool(
            name=name,
            description=schemas[kind.__name__]["description"],
            input_schema={**_short(schemas[kind.__name__]), "additionalProperties": False},
            output_schema=_short(schemas[Result.__name__]),
            annotations=HINTS[kind],
        )
        for name, kind in KINDS.items()
    ]


def _short(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object for models, which read it again and again: without what repeats the names."""
    properties: dict[str, dict[str, Any]] = schema["properties"]
    short = {
        name: {"type": "object"} if "$ref" in one else {key: one[key] for key in one if key in _SHOWN}
        for name, one in properties.items()
    }
    arrays = {name: {"type": "array", "items": {"type": "object"}} for name in short if short[name]["type"] == "array"}
    return {"type": "object", "properties": {**short, **arrays}, "required": schema["required"]}


def as_result(result: Result, *, is_error: bool = False) -> CallToolResult:
    """Return a result for hosts: its text is the same JSON, because some show only one of them to the model."""
    text = msgspec.json.encode(result).decode()
    content = TextContent(type="text", text=text)
    return CallToolResult(content=[content], structured_content=msgspec.json.decode(text), is_error=is_error)
