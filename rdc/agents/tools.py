"""The tools of the server: their arguments, their one result, and their descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations
from msgspec import UNSET, Meta, Struct, UnsetType

RunName = Annotated[str, Meta(description="`run` of a result")]
At = Annotated[str, Meta(description="`at` of the last result")]


class List(Struct, frozen=True, forbid_unknown_fields=True):
    """List the documents, their inputs, and each `run` with its state."""


class Status(Struct, frozen=True, forbid_unknown_fields=True):
    """Show the current step of a run and its last outcomes."""

    run: RunName


class Start(Struct, frozen=True, forbid_unknown_fields=True):
    """Start or take up a run of a document. This runs no step."""

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


Arguments = List | Status | Start | Next | Report
HINTS: Mapping[type[Arguments], ToolAnnotations] = {
    List: ToolAnnotations(read_only_hint=True, open_world_hint=False),
    Status: ToolAnnotations(read_only_hint=True, open_world_hint=False),
    Start: ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
    Next: ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True),
    Report: ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
}
KINDS: Mapping[str, type[Arguments]] = {kind.__name__.lower(): kind for kind in HINTS}


class Result(Struct, frozen=True, omit_defaults=True):
    """The result of every tool. A refusal has its reason in `message`."""

    message: str
    hint: str
    run: str = ""
    state: str = ""
    at: str = ""
    step: dict[str, Any] | UnsetType = UNSET
    done: list[dict[str, str]] = []
    output: str = ""
    output_bytes: int = 0
    resumed: bool = False
    documents: list[dict[str, Any]] = []


class RefusedError(Exception):
    """A call that changed nothing: the reason, and a command for a person."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message, self.hint = message, hint


def read_call(name: str, arguments: object) -> Arguments:
    """Return the call of a tool."""
    if name not in KINDS:
        raise RefusedError(f"unknown tool {name!a}; the tools are {', '.join(KINDS)}")
    try:
        return msgspec.convert(arguments or {}, KINDS[name])
    except msgspec.ValidationError as error:
        raise RefusedError(f"{name}: {error}") from None


def tool_list() -> list[Tool]:
    """Return the tools as hosts list them."""
    _, schemas = msgspec.json.schema_components([*HINTS, Result])
    return [
        Tool(
            name=name,
            description=kind.__doc__,
            input_schema={**_short(schemas[kind.__name__]), "additionalProperties": False},
            output_schema=_of_results(schemas[Result.__name__]),
            annotations=HINTS[kind],
        )
        for name, kind in KINDS.items()
    ]


def _short(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without repetitions of its names, because models read it again and again."""
    shown = ("type", "description", "items", "additionalProperties")
    short = {name: {key: one[key] for key in shown if one.get(key)} for name, one in schema["properties"].items()}
    required = {"required": schema["required"]} if schema["required"] else {}
    return {"type": "object", "properties": short, **required}


def _of_results(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of results as the fields that aren't strings, because each tool repeats it."""
    kinds = {name: one["type"] for name, one in schema["properties"].items()}
    others = {name: {"type": kind} for name, kind in kinds.items() if kind != "string"}
    return {"type": "object", "properties": others, "additionalProperties": {"type": "string"}}


def as_result(result: Result, *, is_error: bool = False) -> CallToolResult:
    """Return a result for hosts: its text is the same JSON, because some show only one of them to the model."""
    text = msgspec.json.encode(result).decode()
    content = TextContent(type="text", text=text)
    return CallToolResult(content=[content], structured_content=msgspec.json.decode(text), is_error=is_error)
