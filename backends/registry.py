"""The targets: `BACKENDS` lists those that are built in, entry points add others."""

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
    "dbos": "backends.dbos:DbosBackend",
    "skill": "backends.skill:SkillBackend",
    "dot": "backends.dot:DotBackend",
    "mermaid": "backends.mermaid:MermaidBackend",
    "json": "backends.json:JsonBackend",
}
"""The class of each backend. Its module is imported at first use."""

ENTRY_POINTS = "rdc.backends"
"""The entry-point group for targets of other packages: the name, and the class as `module:Class`."""


def names() -> tuple[str, ...]:
    """Return the targets: first the built-in ones, then the installed ones by name."""
    return (*BACKENDS, *sorted(set(_installed()) - set(BACKENDS)))


def is_target(name: str) -> bool:
    """Return whether a target exists. Installed ones are only searched if it is not built in."""
    return name in BACKENDS or name in _installed()


def load(name: str) -> Backend[Any]:
    """Return the backend of a name; raises `KeyError` for an unknown name."""
    module, _, class_name = (BACKENDS.get(name) or _installed()[name]).partition(":")
    backend: Backend[Any] = getattr(import_module(module), class_name)()
    return backend


@cache
def _installed() -> dict[str, str]:
    from importlib.metadata import entry_points  # noqa: PLC0415 (slow to import, and rarely needed)

    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
