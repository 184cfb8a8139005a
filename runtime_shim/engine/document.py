"""The function that a program has for its document: it runs once, and its calls build the table of the program."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Callable

from runtime_shim.engine.program import Table


def built(document: Callable[..., None], extensions: Sequence[Any], builder: Any = None) -> Table:
    """Return the table of a document, made by a builder or by that of the extensions."""
    words = document.__code__.co_varnames[: document.__code__.co_argcount]
    made = (builder or next(extension.builder for extension in extensions if extension.builder))()
    document(*functions(made, words))
    table: Table = made.table
    for extension in extensions:
        extension.complete(table)
    return table


def functions(builder: Any, words: Sequence[str]) -> list[Callable[..., Any]]:
    """Return the functions that a document calls. A word that the builder does not know is a kind of task."""
    return [getattr(builder, word, None) or functools.partial(builder.step, task=word) for word in words]


def unframed(value: Any) -> Any:  # a setting
    """Strip the first and last newline of a text that starts with a newline."""
    return value[1:-1] if isinstance(value, str) and value.startswith("\n") else value
