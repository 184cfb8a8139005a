"""The subset of JSON Schema for tool arguments (B9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime_shim.contract.tool_schemas import TYPES

NOTES = ("$schema", "title", "description", "default", "examples")  # these have no effect


def unfit_schema(schema: Any) -> str:  # noqa: ANN401 (any value of a configuration)
    """Return why a value isn't a schema of this subset, or "" if it is one."""
    if not isinstance(schema, dict):
        return "a schema must be an object"
    for key, value in schema.items():
        if key not in NOTES and (key not in PARTS or not PARTS[key](value)):
            return f"the value of `{key}` is not valid" if key in PARTS else f"`{key}` is not one of {', '.join(PARTS)}"
    parts = (
        schema[key] for key in ("items", "additionalProperties") if key in schema and schema[key] not in (True, False)
    )
    inner = [*schema.get("properties", {}).values(), *parts]
    return next(filter(None, map(unfit_schema, inner)), "")


def _are_types(value: Any) -> bool:  # noqa: ANN401
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(one, str) and one in TYPES for one in names)


PARTS: dict[str, Callable[[Any], bool]] = {
    "type": _are_types,
    "properties": TYPES["object"],
    "required": lambda value: isinstance(value, list) and all(map(TYPES["string"], value)),
    "additionalProperties": lambda value: isinstance(value, bool | dict),
    "enum": lambda value: isinstance(value, list) and bool(value),
    "items": TYPES["object"],
    "minimum": TYPES["number"],
    "maximum": TYPES["number"],
}
