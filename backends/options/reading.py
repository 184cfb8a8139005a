"""The options of a target, whatever its model: plain values, or words of a command line, become that model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import UnionType
from typing import Annotated, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from backends.options.problems import OptionsError, Problem, fields, problems
from compiler.yaml_text import UnreadableError, load_value

ModelType = TypeVar("ModelType", bound=BaseModel)


def validate(model: type[ModelType], options: Mapping[str, object]) -> ModelType:
    """The options in plain values; raises `OptionsError`."""
    try:
        return model.model_validate(dict(options))
    except ValidationError as error:
        raise OptionsError(problems(model, options, error.errors(include_url=False))) from None


def read_words(model: type[BaseModel], words: Mapping[str, str]) -> dict[str, object]:
    """What words of a command line mean as options: YAML, where a list or a mapping can stand; raises `OptionsError`.

    Where a text can stand as well, only what begins with a bracket is YAML. Everything else is left as it is: that
    `5` is a number and `true` is true for an option that wants that is known to pydantic.
    """
    known = dict(fields(model))
    values: dict[str, object] = {}
    wrong: list[Problem] = []
    for name, word in words.items():
        try:
            values[name] = _value(known[name].annotation, word) if name in known else word
        except UnreadableError as error:
            wrong.append(Problem((name,), f"`{name}` is not valid YAML: {error}"))
    if wrong:
        raise OptionsError(wrong)
    return values


def _value(annotation: object, word: str) -> object:
    kinds = list(_alternatives(annotation))
    if not any(_is_collection(kind) for kind in kinds) or (str in kinds and not word.lstrip().startswith(("[", "{"))):
        return word
    value = load_value(word)
    return value if isinstance(value, (list, dict)) else word


def _is_collection(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, (BaseModel, Collection)) and not issubclass(kind, (str, bytes))


def _alternatives(annotation: object) -> Iterator[object]:
    """The types of a union (else the type alone), without what they are annotated with and what they hold."""
    annotation = getattr(annotation, "__value__", annotation)  # the type behind a name such as `JsonValue`
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for part in get_args(annotation):
            yield from _alternatives(part)
    else:
        yield origin or annotation
