"""The parts of a program in JSON: their names in messages, and their optional keys (docs/formats/json.md)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from compiler.ir.edges import Written
from compiler.ir.program import Counter, Entering, Program, Settings, SourceFile, SpecifiedStep
from compiler.ir.serialize import LARGEST_NUMBER, MAY_BE_MISSING, plain
from compiler.ir.tasks import Agent, Task
from compiler.ir.texts import Part, Text

NOTES = ("generated", "$schema")
"""Keys about the file, not the program."""

_CALLED: Mapping[type, str] = {
    SourceFile: "a source",
    Written: "a `written` entry",
    Settings: "the settings",
    Entering: "an `entering` entry",
    SpecifiedStep: "a step of a contract",
    Counter: "a register",
}


class Shape:
    """A class of the model: its fields, their types, and the keys that an object must have."""

    def __init__(self, kind: type[Any]) -> None:
        hints = get_type_hints(kind)
        self.kind = kind
        self.fields: dict[str, FieldInfo] = {item.encode_name: item for item in fields(kind)}
        self.types: dict[str, Any] = {key: hints[item.name] for key, item in self.fields.items()}
        left_out = MAY_BE_MISSING.get(kind.__name__, {})
        self.required = tuple(name for name, item in self.fields.items() if item.required and name not in left_out)
        self.defaults = {name: default for name, default in left_out.items() if default is not None}
        kinds = get_args(self.types.get("kind"))
        self.tag = str(kinds[0]) if len(kinds) == 1 else ""

    @property
    def called(self) -> str:
        """The name in messages: "a node", "an `agent`"."""
        name = f"`{self.tag}`" if self.tag else self.kind.__name__.lower()
        return _CALLED.get(self.kind) or f"{'an' if name.strip('`')[0] in 'aeio' else 'a'} {name}"

    @property
    def keys(self) -> str:
        """The keys, as a list for messages."""
        return ", ".join(f"`{name}`" for name in self.types)


@cache
def shape(kind: type[Any]) -> Shape:
    """Return the shape of a class."""
    return Shape(kind)


def is_class(kind: object) -> bool:
    """Return whether a type is a class of the model."""
    return isinstance(kind, type) and issubclass(kind, Struct)


_VERSION = "https://json-schema.org/draft/2020-12/schema"
_NOTES = {
    "$schema": {"type": "string", "description": "The address of this schema, for editors."},
    "generated": {"type": "string", "description": "Where the file comes from. rdc ignores it."},
}
_PLAIN: dict[object, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    int: {"type": "integer", "minimum": -LARGEST_NUMBER, "maximum": LARGEST_NUMBER},
}


def schema() -> dict[str, Any]:
    """Return the schema. Its `properties` include the notes about the file itself."""
    classes: dict[str, Any] = {}
    form = _object(shape(Program), classes)
    return {"$schema": _VERSION, "$defs": classes, **form, "properties": {**_NOTES, **form["properties"]}}


def _object(wanted: Shape, classes: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a class: an object with exactly its keys, and a `kind` if there are several classes."""
    properties = {name: _type(kind, classes) | _default(wanted, name) for name, kind in wanted.types.items()}
    is_tagged = wanted.tag and wanted.kind is not Agent
    return {
        "title": wanted.kind.__name__,
        "description": inspect.cleandoc(wanted.kind.__doc__ or ""),
        "type": "object",
        "properties": properties,
        "required": [*(["kind"] if is_tagged else []), *wanted.required],
        "additionalProperties": False,
    }


def _type(kind: Any, classes: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 (any type of the model)
    if kind is Text:
        return {"anyOf": [_PLAIN[str], _type(tuple[Part, ...], classes)]}
    if is_class(kind):
        return _reference(kind, classes)
    if kind == Task:  # a list of agents needs no `kind`
        kinds = [_type(part, classes) for part in get_args(kind)]
        return {"anyOf": [one | {"required": ["kind"]} if one == _to(Agent) else one for one in kinds]}
    if isinstance(kind, UnionType):
        return {"anyOf": [_type(part, classes) for part in get_args(kind)]}
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _type(get_args(kind)[0], classes)}
    if get_origin(kind) is Literal:
        words = get_args(kind)
        return {"type": "string", **({"enum": list(words)} if len(words) > 1 else {"const": words[0]})}
    return dict(_PLAIN[kind])


def _reference(kind: type, classes: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in classes:
        classes[kind.__name__] = {}  # a class may contain itself
        classes[kind.__name__] = _object(shape(kind), classes)
    return _to(kind)


def _to(kind: type) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _default(wanted: Shape, name: str) -> dict[str, Any]:
    default = wanted.fields[name].default
    return {} if default is NODEFAULT else {"default": plain(default)}
