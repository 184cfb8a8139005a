"""The options of a target for editors, as a JSON Schema, and for people: names, types, defaults and descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct

from backends.options.fields import Options, alternatives, fields, is_options, plain

_PLAIN = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    Any: {},
}
_KINDS = {"string": "string", "boolean": "true/false", "integer": "whole number", "number": "number"}
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
    usual = {name: _default(field) for name, field in fields(kind).items()}
    properties = {
        name: _type(field.type) | ({} if usual[name] in (None, "") else {"default": usual[name]})
        for name, field in fields(kind).items()
    }
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


def _default(field: Any) -> object:  # noqa: ANN401 (msgspec has no public type for it)
    """Return the default as a plain value."""
    if field.required:
        return None
    return plain(field.default if field.default_factory is NODEFAULT else field.default_factory())


# --- For people ------------------------------------------------------------------------------------------------------


class Option(Struct, frozen=True):
    """An option. A nested one is named by its path, such as `concurrency.group` or `setup[].uses`."""

    name: str
    type: str
    required: bool
    default: object
    description: str

    @property
    def default_words(self) -> str:
        """The default as you would write it; `none` for no default, `required` for a required option."""
        if self.required:
            return "required"
        if self.default in (None, "", [], {}):
            return "none"
        return self.default if isinstance(self.default, str) else json.dumps(self.default, ensure_ascii=False)


def listed(kind: type[Options], prefix: str = "") -> Iterator[Option]:
    """Yield all options of a class in order, each followed by its nested options."""
    for name, field in fields(kind).items():
        node = _type(field.type)
        yield Option(f"{prefix}{name}", _words(node, {}), field.required, _default(field), node.get("description", ""))
        kinds = list(alternatives(field.type))
        items = [get_args(part)[0] for part in kinds if get_origin(part) is list]
        for part, mark in (*((part, ".") for part in kinds), *((item, "[].") for item in items)):
            if is_options(part):
                yield from listed(part, f"{prefix}{name}{mark}")


def _words(node: Mapping[str, Any], outer: Mapping[str, Any]) -> str:
    """Return the name of a type for people, from its schema and the bounds of the types around it."""
    bounds = {**outer, **node}
    match node:
        case {"anyOf": parts}:
            kinds = dict.fromkeys(_words(part, bounds) for part in parts if part.get("type") != "null")
            if "number" in kinds:
                kinds.pop("whole number", None)
            return " or ".join(kinds)
        case {"enum": words}:
            return " or ".join(map(str, words))
        case {"items": items}:
            return f"list of {_words(items, {})}"
        case {"additionalProperties": dict() as values}:
            return f"mapping of names to {_words(values, {})}"
        case {"type": "object"}:
            return "mapping"
        case {"type": "integer"}:
            ends = (("from", "minimum"), ("to", "maximum"))
            return " ".join(["whole number", *(f"{word} {bounds[key]}" for word, key in ends if key in bounds)])
        case _:
            return _KINDS.get(node.get("type", ""), "any value")
