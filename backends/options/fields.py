"""The options of a target as a class: its fields, their types, and their defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo
from msgspec.structs import fields as fields_of


class Options(Struct, frozen=True, rename="kebab"):
    """The options of a target, or a mapping in one. The option `runs-on` is the field `runs_on`.

    The type of a field is `str`, `bool`, `int`, `float`, `Literal`, `list[X]`, `dict[X, Y]`, a class of options, a
    union of these with or without `None`, or `Any` for any JSON value. `Annotated` adds a string that describes the
    option, `Meta` with bounds for numbers and strings, and `Check`.
    """

    def check(self) -> None:
        """Raise `ValueError` if valid options exclude each other."""


class Check(Struct, frozen=True):
    """Checks the value of an option, in `Annotated`.

    `ask` returns the value, possibly changed, or raises `ValueError` with the problem, or `InvalidError` for parts of
    the value. `None` is not checked if the type allows it. The `pattern` of a `Meta` must match the whole string.
    """

    ask: Callable[[Any], object]


OptionsType = TypeVar("OptionsType", bound=Options)


@cache
def fields(kind: type[Options]) -> Mapping[str, FieldInfo]:
    """Return the fields of a class by their options' names. The first call for a class reads its types."""
    return {field.encode_name: field for field in fields_of(kind)}


@cache
def required(kind: type[Options]) -> frozenset[str]:
    """Return the fields without a default. This does not read their types."""
    defaults = dict(zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False))
    return frozenset(name for name in kind.__struct_fields__ if defaults.get(name, NODEFAULT) is NODEFAULT)


def alternatives(kind: object) -> Iterator[Any]:
    """Yield the types of a union, or a single type, without annotations."""
    if get_origin(kind) is Annotated:
        yield from alternatives(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for part in get_args(kind):
            yield from alternatives(part)
    else:
        yield kind


def is_options(kind: object) -> bool:
    """Return whether a type is a class of options."""
    return isinstance(kind, type) and issubclass(kind, Options)


def changed(options: Options) -> dict[str, object]:
    """Return the options that differ from their defaults as plain values, by name."""
    kind = type(options)
    given = {name: getattr(options, name) for name in kind.__struct_fields__}
    usual = kind(**{name: given[name] for name in required(kind)})
    return {
        option: plain(value)
        for option, (name, value) in zip(kind.__struct_encode_fields__, given.items(), strict=True)
        if name in required(kind) or value != getattr(usual, name)
    }


def plain(value: object) -> object:
    """Return the value of an option as JSON. Nested mappings omit their defaults."""
    match value:
        case Options():
            return changed(value)
        case dict():
            return {name: plain(item) for name, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case _:
            return value
