"""Plain values held against pydantic models: what these take, and everything that they do not take."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ValidationError

MOST_SHOWN = 100
"""Of findings about the form of one file."""

SHAPES = {
    "list_type": "a list",
    "model_type": "a mapping of keys to values",
    "dict_type": "a mapping of keys to values",
}
"""What is wanted, by pydantic's name for what is wrong."""

_DEEPEST = 6
"""Parts in parts: what is fixed in one part is looked into once more."""

Model = TypeVar("Model", bound=BaseModel)


class Flaw(Struct, frozen=True):
    """A part that the models do not take: what leads to it, pydantic's name for what is wrong, what it would take."""

    path: tuple[str | int, ...]
    kind: str
    expected: str = ""


def validated(
    model: type[Model], plain: Mapping[str, Any], defaults: Mapping[str, object]
) -> tuple[Model | None, list[Flaw]]:
    """The model of a plain value, without what it does not take, and all of that.

    `defaults` has what stands for a key that is missing, where it is no empty text.
    """
    value: dict[str, Any] = dict(plain)
    flaws: list[Flaw] = []
    for _ in range(_DEEPEST):
        try:
            return model.model_validate(value), flaws
        except ValidationError as error:
            value = value if flaws else copy.deepcopy(value)  # before anything in it is fixed
            found = [Flaw(item["loc"], item["type"], _expected(item)) for item in error.errors(include_url=False)]
        known = {flaw.path for flaw in flaws}
        flaws += (flaw for flaw in found if not any(flaw.path[:end] in known for end in range(1, len(flaw.path) + 1)))
        for flaw in found:
            _mend(value, flaw, defaults)
    return None, flaws


def _expected(item: Mapping[str, Any]) -> str:
    return str(item.get("ctx", {}).get("expected", ""))


def _mend(value: Any, flaw: Flaw, defaults: Mapping[str, object]) -> None:  # noqa: ANN401 (a plain value)
    """Takes a part away that the models do not take, or puts an empty one where one is missing."""
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
    """All texts in a plain value, which its reader has bounded, in order."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            pending += reversed(one)
        elif isinstance(one, dict):
            pending += reversed(one.values())
