"""The options of a target for people: what each is called, what it takes, its default, and what it means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from backends.options.problems import fields

_KINDS = {"string": "string", "boolean": "true/false", "number": "number", "object": "mapping"}


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


def listed(model: type[BaseModel]) -> tuple[Option, ...]:
    """All options of a model in its order, each followed by those inside of it."""
    schema = model.model_json_schema()
    return tuple(_options(model, schema, schema.get("$defs", {}), ""))


def _options(
    model: type[BaseModel], schema: Mapping[str, Any], known: Mapping[str, Any], prefix: str
) -> Iterator[Option]:
    for name, field in fields(model):
        own = schema["properties"][name]
        yield Option(
            f"{prefix}{name}", _type(own, known), field.is_required(), _default(field), field.description or ""
        )
        kinds = [own, *own.get("anyOf", ())]
        for part, is_item in (*((kind, False) for kind in kinds), *((kind.get("items", {}), True) for kind in kinds)):
            inner = known.get(_referred(part), {})
            nested = _model_of(field, inner.get("title", ""))
            if nested:
                yield from _options(nested, inner, known, f"{prefix}{name}{'[]' if is_item else ''}.")


def _referred(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _model_of(field: FieldInfo, title: str) -> type[BaseModel] | None:
    """The model of that name in the type of a field."""
    pending: list[Any] = [field.annotation]
    while pending:
        kind = pending.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind.__name__ == title:
            return kind
        pending += getattr(kind, "__args__", ())
    return None


def _type(schema: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """What JSON Schema says of a value, in words."""
    if "$ref" in schema:
        schema = known[_referred(schema)]
    if "anyOf" in schema:
        kinds = dict.fromkeys(_type(part, known) for part in schema["anyOf"] if part.get("type") != "null")
        if "number" in kinds:
            kinds.pop("whole number", None)
        return " or ".join(kinds)
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    match schema.get("type"):
        case "array":
            return f"list of {_type(schema.get('items', {}), known)}"
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"mapping of names to {_type(schema['additionalProperties'], known)}"
        case "integer":
            bounds = (("from", "minimum"), ("to", "maximum"))
            return " ".join(["whole number", *(f"{word} {schema[key]}" for word, key in bounds if key in schema)])
        case kind:
            return _KINDS.get(kind or "", "any value")


def _default(field: FieldInfo) -> object:
    """The default as a plain value."""
    if field.is_required():
        return None
    value = field.get_default(call_default_factory=True, validated_data={})
    return value.model_dump(by_alias=True) if isinstance(value, BaseModel) else value
