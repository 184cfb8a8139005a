"""The options of a target: a list for people with names, types, defaults and descriptions, and a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo

from backends.options.fields import Options, alternatives, fields, is_options, plain

_KINDS = {str: "string", bool: "true/false", int: "whole number", float: "number", Any: "any value"}


Wanted = TypeVar("Wanted")


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


def listed(kind: type[Options]) -> tuple[Option, ...]:
    """Return all options of a class in order, each followed by its nested options."""
    return tuple(_options(kind, ""))


def _options(kind: type[Options], prefix: str) -> Iterator[Option]:
    for name, field in fields(kind).items():
        about = next(iter(_metadata(field.type, str)), "")
        yield Option(f"{prefix}{name}", _type(field.type), field.required, _default(field), about)
        kinds = list(alternatives(field.type))
        items = [get_args(part)[0] for part in kinds if get_origin(part) is list]
        for part, mark in (*((part, ".") for part in kinds), *((item, "[].") for item in items)):
            if is_options(part):
                yield from _options(part, f"{prefix}{name}{mark}")


def _metadata(kind: object, wanted: type[Wanted]) -> list[Wanted]:
    """Return the annotations of a type that have a certain class."""
    return [part for part in getattr(kind, "__metadata__", ()) if isinstance(part, wanted)]


def _type(kind: Any, metas: Sequence[Meta] = ()) -> str:  # noqa: ANN401 (types have no type in common)
    """Return the name of a type for people."""
    arguments = get_args(kind)
    match get_origin(kind):
        case _ if is_options(kind):
            return "mapping"
        case origin if origin is Annotated:
            return _type(arguments[0], [*metas, *_metadata(kind, Meta)])
        case origin if origin in (Union, UnionType):
            kinds = dict.fromkeys(_type(part, metas) for part in arguments if part is not NoneType)
            if "number" in kinds:
                kinds.pop("whole number", None)
            return " or ".join(kinds)
        case origin if origin is Literal:
            return " or ".join(map(str, arguments))
        case origin if origin is list:
            return f"list of {_type(arguments[0])}"
        case origin if origin is dict:
            return f"mapping of names to {_type(arguments[1])}"
        case _:
            return " ".join([_KINDS[kind], *(_bounds(metas) if kind is int else ())])


def _bounds(metas: Sequence[Meta]) -> Iterator[str]:
    yield from (f"from {meta.ge}" for meta in metas if meta.ge is not None)
    yield from (f"to {meta.le}" for meta in metas if meta.le is not None)


def _default(field: FieldInfo) -> object:
    """Return the default as a plain value."""
    if field.required:
        return None
    return plain(field.default if field.default_factory is NODEFAULT else field.default_factory())


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
    properties = {name: _type_schema(field.type) | _default_schema(field) for name, field in fields(kind).items()}
    required = [name for name, field in fields(kind).items() if field.required]
    made = {"type": "object", "properties": properties, "additionalProperties": False}
    return made | ({"required": required} if required else {})


def _type_schema(kind: Any) -> dict[str, Any]:  # noqa: ANN401 (types have no type in common)
    arguments = get_args(kind)
    match get_origin(kind):
        case _ if is_options(kind):
            return schema(kind)
        case origin if origin is Annotated:
            return _type_schema(arguments[0]) | _notes(arguments[1:])
        case origin if origin in (Union, UnionType):
            return {"anyOf": [_type_schema(part) for part in arguments]}
        case origin if origin is Literal:
            return {"enum": list(arguments)}
        case origin if origin is list:
            return {"type": "array", "items": _type_schema(arguments[0])}
        case origin if origin is dict:
            return {"type": "object", "additionalProperties": _type_schema(arguments[1])}
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


def _default_schema(field: FieldInfo) -> dict[str, Any]:
    value = _default(field)
    return {} if value in (None, "") else {"default": value}
