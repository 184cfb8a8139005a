"""A program as JSON and back, and the JSON Schema of that form."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from compiler.ir.program import Program
from compiler.ir.unseen import shown_json

_VERSION = "https://json-schema.org/draft/2020-12/schema"


@cache
def _adapter() -> TypeAdapter[Program]:
    return TypeAdapter(Program)


def to_json(program: Program) -> str:
    """The JSON form: indented, keys in the order of the model, ending in a newline."""
    return shown_json(_adapter().dump_json(program, indent=2).decode()) + "\n"


def from_json(text: str) -> Program:
    """The program of a JSON form, with or without the note of the json target.

    Raises:
        ValueError: It is no JSON, or (as a `pydantic.ValidationError`) not that of a program.
    """
    content = json.loads(text)
    if isinstance(content, dict):
        content.pop("generated", None)
    return _adapter().validate_json(json.dumps(content))


def schema() -> dict[str, Any]:
    """The JSON Schema of the JSON form, published as `docs/program.schema.json`.

    The note that the json target adds is part of it.
    """
    form = _adapter().json_schema()
    note = {"type": "string", "title": "Generated", "description": "Where a file comes from; no part of the program."}
    return {"$schema": _VERSION, **form, "properties": {"generated": note, **form["properties"]}}
