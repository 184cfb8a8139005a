"""The parts of a program in JSON: their names in messages, and their optional keys (docs/formats/json.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_type_hints

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from compiler.ir.edges import Edge, Origin, Written
from compiler.ir.program import (
    Artifact,
    Constant,
    Context,
    Contract,
    ContractStep,
    Entering,
    Group,
    Input,
    Jump,
    Node,
    Program,
    Register,
    Settings,
    Slot,
    SourceFile,
    Variable,
)
from compiler.ir.serialize import MAY_BE_MISSING
from compiler.ir.tasks import Reading
from compiler.ir.texts import Reference
from compiler.source import Span

NOTES = ("generated", "$schema")
"""Keys about the file, not the program."""

_CALLED: Mapping[type, str] = {
    Program: "a program",
    SourceFile: "a source",
    Node: "a node",
    Group: "a group",
    Register: "a register",
    Slot: "a slot",
    Input: "an input",
    Edge: "an edge",
    Written: "a `written` entry",
    Origin: "an origin",
    Span: "a span",
    Variable: "a variable",
    Artifact: "an artifact",
    Context: "a context",
    Settings: "the settings",
    Reading: "a reading",
    Reference: "a reference",
    Constant: "a constant",
    Jump: "a jump",
    Entering: "an `entering` entry",
    Contract: "a contract",
    ContractStep: "a step of a contract",
}


class Shape:
    """A class of the model: its fields, their types, and the keys that an object must have."""

    def __init__(self, kind: type[Any]) -> None:
        hints = get_type_hints(kind)
        self.kind = kind
        self.fields: dict[str, FieldInfo] = {item.name: item for item in fields(kind)}
        self.types: dict[str, Any] = {name: hints[name] for name in self.fields}
        left_out = MAY_BE_MISSING.get(kind.__name__, {})
        self.required = tuple(name for name, item in self.fields.items() if item.required and name not in left_out)
        self.defaults = {name: default for name, default in left_out.items() if default is not None}
        kinds = get_args(self.types.get("kind"))
        self.tag = str(kinds[0]) if len(kinds) == 1 else ""

    @property
    def called(self) -> str:
        """The name in messages: "a node", "an `agent`"."""
        return _CALLED.get(self.kind) or f"{'an' if self.tag[:1] in 'aeio' else 'a'} `{self.tag}`"

    @property
    def keys(self) -> str:
        """The keys, as a list for messages."""
        return ", ".join(f"`{name}`" for name in self.types)


@cache
def shape(kind: type[Any]) -> Shape:
    """Return the shape of a class."""
    return Shape(kind)


def alternatives(kind: object) -> Iterator[Shape]:
    """Yield the shapes of a union of classes."""
    return (shape(part) for part in get_args(kind) if is_class(part))


def is_class(kind: object) -> bool:
    """Return whether a type is a class of the model."""
    return isinstance(kind, type) and issubclass(kind, Struct)
