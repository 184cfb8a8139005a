"""The options of a target for people: what each is called, what it takes, its default, and what it means."""

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
    """An option; one inside of another is called by its path, such as `concurrency.group` or `setup[].uses`."""

    name: str
    type: str
    required: bool
    default: object
    description: str

    @property
    def default_words(self) -> str:
        """The default as it would be given; `none` if there is none, `required` if one must be given."""
        if self.required:
            return "required"
        if self.default in (None, "", [], {}):
            return "none"
        return self.default if isinstance(self.default, str) else json.dumps(self.default, ensure_ascii=False)


def listed(kind: type[Options]) -> tuple[Option, ...]:
    """All options of a class in its order, each followed by those inside of it."""
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
    """What a type is annotated with, of one class."""
    return [part for part in getattr(kind, "__metadata__", ()) if isinstance(part, wanted)]


def _type(kind: Any, metas: Sequence[Meta] = ()) -> str:  # noqa: ANN401 (types have no type in common)
    """What a type takes, in words."""
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
    """The default as a plain value."""
    if field.required:
        return None
    return plain(field.default if field.default_factory is NODEFAULT else field.default_factory())
