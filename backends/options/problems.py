"""What is wrong with the options of a target, in words of ours: pydantic's are for programmers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from msgspec import Struct
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from compiler.regex import Regex
from compiler.source import KeyPath
from compiler.suggestions import nearest_name

# What a value should be, by the first word in the type of pydantic's error.
_KINDS = {
    "string": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen": "a list",
    "dict": "a mapping of names to values",
    "mapping": "a mapping of names to values",
    "model": "a mapping of names to values",
}
_KIND = Regex(r"([a-z]+)(?:_set)?_(?:type|parsing|from_float|attributes_type)")
_SHORT = 40
_WISH = Regex(r"\w+ should (.+)")


class Problem(Struct, frozen=True):
    """What is wrong with an option. The path leads to it from the options; it is empty for all of them together."""

    path: KeyPath
    text: str


class OptionsError(ValueError):
    """Options that a target does not have, or values that they cannot have: all `errors`, and their texts."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem.text for problem in self.problems))


def problems(model: type[BaseModel], options: object, errors: Iterable[ErrorDetails]) -> Iterator[Problem]:
    """What pydantic's errors say about options that were to become a model: once for each of the options."""
    groups: dict[tuple[KeyPath, bool], list[ErrorDetails]] = {}
    for error in errors:
        groups.setdefault((_path(options, error), _is_of_name(error)), []).append(error)
    outer = {path[:length] for path, _ in groups for length in range(1, len(path))}
    for (path, _), same in groups.items():
        # Each alternative of a union has errors; the one that was meant is the one that was understood furthest.
        if path not in outer:
            yield Problem(path, _words(model, path, same))


def fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """The options that a model has, by the names under which they are given."""
    for name, field in model.model_fields.items():
        yield field.validation_alias if isinstance(field.validation_alias, str) else name, field


def _is_of_name(error: ErrorDetails) -> bool:
    """Whether it is the name in a mapping that is wrong, and not its value."""
    return error["loc"][-1:] == ("[key]",)


def _path(options: object, error: ErrorDetails) -> KeyPath:
    """The path of an error through the options: that of pydantic also has the alternatives of unions in it."""
    path: list[str] = []
    value = options
    for part in error["loc"]:
        for inner in _within(value, part):
            path.append(str(part))
            value = inner
    return (*path, str(error["loc"][-1])) if error["type"] == "missing" else tuple(path)


def _within(value: object, part: int | str) -> tuple[object, ...]:
    """What has this name or number in a collection, if there is something."""
    if isinstance(value, Mapping) and part in value:
        return (value[part],)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return (value[part],)
    return ()


def _words(model: type[BaseModel], path: KeyPath, errors: Sequence[ErrorDetails]) -> str:
    """What is wrong with one option, of which each error says what it could have been."""
    name = f"`{'.'.join(path)}`"
    first = errors[0]
    if first["type"] == "extra_forbidden":
        return f"there is no option {name}{_did_you_mean(model, path)}"
    if first["type"] == "missing":
        return f"{name} is missing"
    if _is_of_name(first):
        name = f"the name `{path[-1]}` in `{'.'.join(path[:-1])}`"
    own = [error for error in errors if error["type"] == "value_error"]  # the alternative that was understood furthest
    if own:
        errors = own
    wishes = dict.fromkeys(wish for error in errors if (wish := _wish(error)))
    if wishes:
        instead = "" if _is_of_name(first) else _instead(first["input"])
        return f"{name} should {' or '.join(wishes).replace(' or be ', ' or ')}{instead}"
    text = "; ".join(error["msg"].removeprefix("Value error, ") for error in errors)
    return f"{name}: {text}" if path else text


def _wish(error: ErrorDetails) -> str | None:
    kind = _KIND.fullmatch(error["type"])
    if kind and kind[1] in _KINDS:
        return f"be {_KINDS[kind[1]]}"
    wish = _WISH.fullmatch(error["msg"])
    return wish[1] if wish else None


def _instead(value: object) -> str:
    """What stands there, if that is short; true, false and null as in YAML and TOML."""
    if isinstance(value, str):
        return f", not {value!r}" if len(value) <= _SHORT else ""
    return f", not {json.dumps(value)}" if value is None or isinstance(value, (int, float)) else ""


def _did_you_mean(model: type[BaseModel], path: KeyPath) -> str:
    models = [model]
    for part in path[:-1]:
        inner = [field.annotation for outer in models for name, field in fields(outer) if name == part]
        models = [found for annotation in inner for found in _models(annotation)] or models
    close = nearest_name(path[-1], (name for found in models for name, _ in fields(found)))
    return f"; did you mean `{'.'.join((*path[:-1], close))}`?" if close else ""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 (annotations have no type in common)
    """The models that stand in an annotation, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
