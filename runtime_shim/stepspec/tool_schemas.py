"""Arguments of tools: a small subset of JSON Schema, and the built-in tools. Pure."""

import json
from collections.abc import Iterator
from typing import Any, Callable

from runtime_shim.engine.program import Table


def _taking(*required: str, **properties: str) -> Table:
    typed = {name: {"type": kind} for name, kind in properties.items()}
    about: Table = {"type": "object", "properties": typed, "additionalProperties": False}
    return {"arguments": {**about, "required": [*required]}}


BUILT_IN: dict[str, Table] = {
    "getCurrentTime": _taking(timezone="string"),
    "readFile": _taking("path", path="string"),
    "writeFile": _taking("path", "text", path="string", text="string"),
    "listFiles": _taking(path="string"),
    "gitStatus": _taking(path="string"),
    "gitDiff": _taking(path="string", staged="boolean"),
    "validateFile": _taking("path", path="string"),
}

TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: type(value) is int or (isinstance(value, float) and value.is_integer()),  # no boolean
}


def unfit_arguments(schema: Table, arguments: Any) -> str:  # any JSON value
    """Return the first problem with the arguments of a tool; "" if they fit."""
    return next(_issues(schema, arguments, "the arguments"), "")


def _issues(schema: Table, value: Any, place: str) -> Iterator[str]:
    types = schema.get("type", list(TYPES))
    types = types if isinstance(types, list) else [types]
    if not any(TYPES[kind](value) for kind in types):
        yield f"{place}: expected {' or '.join(types)}"
        return
    same = (isinstance(one, bool) == isinstance(value, bool) and one == value for one in schema.get("enum", ()))
    if "enum" in schema and not any(same):
        yield f"{place}: expected one of {', '.join(map(json.dumps, schema['enum']))}"
    if isinstance(value, dict):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        yield from (f"{place}: {name} is missing" for name in schema.get("required", ()) if name not in value)
        for name, inner in value.items():
            if name in properties:
                yield from _issues(properties[name], inner, f"{place}: {name}")
            elif more is False:
                yield f"{place}: unknown name {name}; known: {', '.join(properties) or 'none'}"
            elif isinstance(more, dict):
                yield from _issues(more, inner, f"{place}: {name}")
    for number, item in enumerate(value if isinstance(value, list) else (), start=1):
        yield from _issues(schema.get("items", {}), item, f"{place}: item {number}")
    if TYPES["number"](value) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        known = (f"{key} {schema[key]}" for key in ("minimum", "maximum") if key in schema)
        yield f"{place}: {value} is out of range ({', '.join(known)})"
