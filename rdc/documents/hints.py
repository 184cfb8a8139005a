"""Keys and values that fit a position in frontmatter, in YAML or in `rdc.toml`, and their descriptions."""

import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from msgspec import Struct

from backends.registry import BACKENDS
from compiler.driver import Opened, Settings
from compiler.frontends import FRONT_ENDS, recognize
from compiler.frontends.common.marks import Kind
from compiler.frontends.common.schemas import Schema, document_schema
from compiler.project.project import CONFIGURATION
from compiler.reading.frontmatter import block_lines
from compiler.reading.position import Position, position_in_toml, position_in_yaml
from compiler.text.source import KeyPath, Source, Span


class Choice(Struct, frozen=True):
    """A key or value that fits: its text as it belongs into the document, such as `timeout: `, and its description."""

    name: str
    text: str
    description: str = ""


class Hints(Struct, frozen=True):
    """The key or value at a position.

    Attributes:
        path: The key path, such as `("steps", "0", "agent")`. The last part is the unfinished key, which may be "".
        span: The whole word at the position, which a choice replaces. It may be empty.
        is_key: Whether the word is a key, not a value.
        description: The description of the key, or "".
        choices: The keys or values that fit, without keys that the mapping already has.
        names: The kind of marks whose names fit here as well, such as steps for `goto`, or None.
    """

    path: KeyPath
    span: Span
    is_key: bool
    description: str = ""
    choices: tuple[Choice, ...] = ()
    names: Kind | None = None


def hints_at(opened: Opened, settings: Settings, line: int, column: int) -> Hints | None:
    """Return the hints for a position, or None outside of frontmatter, YAML and `rdc.toml`; never raises."""
    source = opened.source
    if not isinstance(source, Source) or not 1 <= line <= len(source.lines):
        return None
    if source.name.rpartition("/")[2] == CONFIGURATION:
        place = position_in_toml(source.lines, line, column)
        return _hints(_Style('"', " = "), _toml_schema(), place) if place else None
    form = FRONT_ENDS[settings.front_end] if settings.front_end else recognize(source)
    if form is None:
        return None
    lines = block_lines(source) if form.is_markdown else range(1, len(source.lines) + 1)
    if line not in lines:
        return None
    text = source.lines[lines.start - 1 : lines.stop - 1]
    place = position_in_yaml(text, lines.start, line, column)
    style = _Style('"', ": ", '"') if "\n".join(text).lstrip()[:1] in ("{", "[") else _Style("", ": ")
    return _hints(style, document_schema_of(form.name), place) if place else None


class _Style(Struct, frozen=True):
    """How a format writes text: the quotes of values, the end of a key, and the quotes of keys."""

    quote: str
    behind: str
    key_quote: str = ""

    def key(self, name: str) -> str:
        return f"{self.key_quote}{name}{self.key_quote}{self.behind}"

    def value(self, value: object) -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        return f"{self.quote}{text}{self.quote}" if isinstance(value, str) else text


@cache
def _toml_schema() -> Schema:
    schema: Schema = import_module("rdc.documents.table").schema()  # pydantic takes 10 MiB, and few answers need it
    return schema


@cache
def document_schema_of(name: str) -> Schema:
    """Return the schema of the documents of a format, or of their frontmatter."""
    form, project = FRONT_ENDS[name], _toml_schema()
    own: Schema = import_module(form.schema).schema() if form.schema else {"type": "object"}
    made = document_schema(own, form.options, {target: project["properties"][target] for target in BACKENDS})
    return {**made, "$defs": {**project["$defs"], **made.get("$defs", {})}}


def _hints(style: _Style, root: Schema, place: Position) -> Hints:
    style = _Style("", "") if place.is_inside else style
    described = [one for part in _at(root, place.path) for one in _every(root, part)]
    about = next((part["description"] for part in _at(root, place.path) if "description" in part), "")
    about = about or next((part["description"] for part in described if "description" in part), "")
    choices = tuple(_values(style, described))
    is_key = place.is_key
    if is_key:
        around = [one for part in _at(root, place.path[:-1]) for one in _every(root, part)]
        keys = {name: part for one in around for name, part in one.get("properties", {}).items()}
        is_key = bool(keys) or any(one.get("type") == "object" for one in around)
        free = (name for name in keys if name not in place.beside)
        choices = tuple(Choice(name, style.key(name), keys[name].get("description", "")) for name in free)
        choices = choices if is_key else tuple(_values(style, around))
    return Hints(place.path, place.span, is_key, about, choices, _names(place.path, is_key=is_key))


def _every(root: Schema, schema: Schema) -> Iterator[Schema]:
    """Yield a schema with all schemas that it refers to or chooses from."""
    yield schema
    if name := schema.get("$ref", "").removeprefix("#/$defs/"):
        yield from _every(root, root["$defs"][name])
    for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _every(root, one)


def _at(root: Schema, path: KeyPath) -> list[Schema]:
    """Return the schemas of the value at a path."""
    found = [root]
    for key in path:
        found = [below for part in found for one in _every(root, part) for below in _below(one, key)]
    return found


def _below(schema: Schema, key: str) -> Iterator[Schema]:
    others = schema.get("additionalProperties")
    if key in schema.get("properties", {}):
        yield schema["properties"][key]
    elif isinstance(others, dict):
        yield others
    elif key.isdigit() and isinstance(schema.get("items"), dict):
        yield schema["items"]


def _values(style: _Style, schemas: list[Schema]) -> Iterator[Choice]:
    for one in schemas:
        values = one.get("enum", [one["const"]] if "const" in one else [])
        for value in [True, False] if one.get("type") == "boolean" else values:
            yield Choice(value if isinstance(value, str) else json.dumps(value), style.value(value))


STEPS = {"next", "goto", "target", "entry"}
"""The keys whose value is the name of a step."""

_OF_SCENARIOS = {"answers": Kind.STEP, "agents": Kind.STEP, "tools": Kind.STEP, "inputs": Kind.INPUT}


def _names(path: KeyPath, *, is_key: bool) -> Kind | None:
    """Return the kind of the names that fit at a path."""
    match path:
        case ("rdc", "steps", _) if is_key:
            return Kind.STEP
        case ("scenarios", _, key, _) if is_key:
            return _OF_SCENARIOS.get(key, Kind.OUTPUT if key == "outputs" else None)
        case (*_, "agent") if not is_key:
            return Kind.AGENT
        case (*_, key) if not is_key and key in STEPS:
            return Kind.STEP
    return None
