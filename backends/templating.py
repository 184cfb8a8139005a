"""The decorator of the functions in `backends/*/rendering.py`, which `make golden` generates from templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec

Values = ParamSpec("Values")


def joined(write: Callable[Values, Iterator[str]]) -> Callable[Values, str]:
    """Return a function that joins what another function yields."""

    @wraps(write)
    def text(*args: Values.args, **kwargs: Values.kwargs) -> str:
        return "".join(write(*args, **kwargs))

    return text
