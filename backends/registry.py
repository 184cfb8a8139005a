"""The targets: one entry in `BACKENDS` for each that is built in; others are found by entry point."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backends.base import Backend

BACKENDS = {
    "github": "backends.github:GithubBackend",
    "make": "backends.make:MakeBackend",
    "python": "backends.python:PythonBackend",
    "dot": "backends.dot:DotBackend",
    "mermaid": "backends.mermaid:MermaidBackend",
    "json": "backends.json:JsonBackend",
}
"""Where each backend is; it is imported when it is first asked for."""

ENTRY_POINTS = "rdc.backends"
"""The entry-point group by which other packages add targets: their name, and the class as `module:Class`."""


def names() -> tuple[str, ...]:
    """The targets that can be compiled for: the built-in ones, then what is installed beside, by name."""
    return (*BACKENDS, *sorted(set(_installed()) - set(BACKENDS)))


def is_target(name: str) -> bool:
    """Whether there is a target of a name; looks for installed ones only if it is not built in."""
    return name in BACKENDS or name in _installed()


def load(name: str) -> Backend[Any]:
    """The backend of a name; raises `KeyError` if there is none."""
    module, _, class_name = (BACKENDS.get(name) or _installed()[name]).partition(":")
    backend: Backend[Any] = getattr(import_module(module), class_name)()
    return backend


@cache
def _installed() -> dict[str, str]:
    from importlib.metadata import entry_points  # noqa: PLC0415 (slow to import, and rarely needed)

    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
