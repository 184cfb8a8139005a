"""Validate plain values with pydantic models, and collect every part that doesn't fit."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ValidationError

MOST_SHOWN = 100
"""The most findings about the form of one file."""

SHAPES = {
    "list_type": "a list",
    "model_type": "a mapping of keys to values",
    "dict_type": "a mapping of keys to values",
}
"""What a value must be, by pydantic's name for the error."""

_DEEPEST = 6
"""How many levels of nested errors to look into: after fixing one part, its inner parts are checked."""

Model = TypeVar("Model", bound=BaseModel)


class Flaw(Struct, frozen=True):
    """A part that the model rejects: its path, pydantic's name for the error, and the expected value."""

    path: tuple[str | int, ...]
    kind: str
    expected: str = ""


def validated(
    model: type[Model], plain: Mapping[str, Any], defaults: Mapping[str, object]
) -> tuple[Model | None, list[Flaw]]:
    """Return the model of a plain value without its invalid parts, and those parts.

    `defaults` has the values for missing keys, if they are not empty strings.
    """
    value: dict[str, Any] = dict(plain)
    flaws: list[Flaw] = []
    for _ in range(_DEEPEST):
        try:
            return model.model_validate(value), flaws
        except ValidationError as error:
            value = value if flaws else copy.deepcopy(value)  # before anything in it is changed
            found = [Flaw(item["loc"], item["type"], _expected(item)) for item in error.errors(include_url=False)]
        known = {flaw.path for flaw in flaws}
        flaws += (flaw for flaw in found if not any(flaw.path[:end] in known for end in range(1, len(flaw.path) + 1)))
        for flaw in found:
            _fix(value, flaw, defaults)
    return None, flaws


def _expected(item: Mapping[str, Any]) -> str:
    return str(item.get("ctx", {}).get("expected", ""))


def _fix(value: Any, flaw: Flaw, defaults: Mapping[str, object]) -> None:  # noqa: ANN401 (a plain value)
    """Remove an invalid part, or add an empty one if it is missing."""
    *above, last = flaw.path
    for key in above:
        value = value[key]
    if flaw.kind == "missing":
        value[last] = copy.copy(defaults.get(str(last), ""))
    elif flaw.kind == "too_short":
        value[last] = [{}]
    elif isinstance(last, int):
        value[last] = "" if flaw.kind == "string_type" else {}
    else:
        value.pop(last, None)


def texts_in(value: object) -> Iterator[str]:
    """Yield all strings in a plain value of limited size, in order."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            pending += reversed(one)
        elif isinstance(one, dict):
            pending += reversed(one.values())
