"""The options of a target as a JSON Schema, for editors."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta

from backends.options.fields import Options, fields, is_options, plain

_PLAIN = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    Any: {},
}
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}


def schema(kind: type[Options]) -> dict[str, Any]:
    """Return the schema of a class of options: an object with only these options."""
    properties = {name: _type(field.type) | _default(field) for name, field in fields(kind).items()}
    required = [name for name, field in fields(kind).items() if field.required]
    made = {"type": "object", "properties": properties, "additionalProperties": False}
    return made | ({"required": required} if required else {})


def _type(kind: Any) -> dict[str, Any]:  # noqa: ANN401 (types have no type in common)
    arguments = get_args(kind)
    match get_origin(kind):
        case _ if is_options(kind):
            return schema(kind)
        case origin if origin is Annotated:
            return _type(arguments[0]) | _notes(arguments[1:])
        case origin if origin in (Union, UnionType):
            return {"anyOf": [_type(part) for part in arguments]}
        case origin if origin is Literal:
            return {"enum": list(arguments)}
        case origin if origin is list:
            return {"type": "array", "items": _type(arguments[0])}
        case origin if origin is dict:
            return {"type": "object", "additionalProperties": _type(arguments[1])}
        case _:
            return dict(_PLAIN[kind])


def _notes(notes: tuple[object, ...]) -> dict[str, Any]:
    """Return the description and bounds from an annotation."""
    found: dict[str, Any] = {}
    for note in notes:
        if isinstance(note, str):
            found["description"] = note
        elif isinstance(note, Meta):
            bounds = {word: getattr(note, name) for name, word in _BOUNDS.items()}
            found |= {word: bound for word, bound in bounds.items() if bound is not None}
    return found


def _default(field: Any) -> dict[str, Any]:  # noqa: ANN401 (msgspec has no public type for it)
    if field.required:
        return {}
    value = plain(field.default if field.default_factory is NODEFAULT else field.default_factory())
    return {} if value in (None, "") else {"default": value}
