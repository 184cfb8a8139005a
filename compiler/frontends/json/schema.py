"""The JSON Schema of programs, published as `docs/program.schema.json`.

Hand-written programs and the output of `compiler/ir/serialize.py` follow it.
"""

from __future__ import annotations

import inspect
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from msgspec import NODEFAULT

from compiler.frontends.json.shapes import Shape, is_class, shape
from compiler.ir.program import Program
from compiler.ir.serialize import LARGEST_NUMBER, plain
from compiler.ir.tasks import Agent, Task
from compiler.ir.texts import Part, Text

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
