"""Find the paths in a step: its path inputs, and the files that must exist when it starts (B2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.frontends.stepspec.placeholders import template_path
from compiler.frontends.stepspec.syntax import StepSpec
from compiler.regex import Regex

TARGETS = "validation_targets"
"""The input that names files to validate. The step may create them, so they needn't exist when it starts."""

_NAMES = Regex(r"artifacts?|(?:.*_)?(?:paths?|files?)|documents?|telis_document_path")
_IN_FOLDER = Regex(r"\{[A-Za-z_][A-Za-z0-9_]*(?:folder|path|dir)\}/\S+")

Path = tuple[str | int, ...]


def input_paths(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """Yield the paths among the inputs, each with its key path.

    An input is a path if its key is `artifacts`, `files` or the like, or if it starts with a folder placeholder.
    """
    for key, value in (step.inputs or {}).items():
        if key == TARGETS or (key.startswith("telis_") and key != "telis_document_path"):
            continue
        yield from _paths(("inputs", key), value, is_named=bool(_NAMES.fullmatch(key)))


def _paths(at: Path, value: Any, *, is_named: bool) -> Iterator[tuple[Path, str]]:  # noqa: ANN401 (any JSON value)
    if isinstance(value, str) and (_IN_FOLDER.fullmatch(value) or (is_named and value)):
        yield at, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _paths((*at, number), item, is_named=is_named)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _paths((*at, key), item, is_named=bool(_NAMES.fullmatch(key)))


def templates(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """Yield the templates' paths, each with its key path."""
    for number, written in enumerate(step.templates or ()):
        yield ("templates", number), template_path(written)


def outputs(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """Yield the outputs' paths, each with its key path."""
    for number, written in enumerate(step.outputs or ()):
        yield ("outputs", number), written


def targets(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """Yield the paths in `validation_targets`, each with its key path."""
    for number, written in enumerate(step.targets):
        yield ("inputs", TARGETS, number), written


def needed(step: StepSpec) -> list[str]:
    """Return the paths that must exist when the step starts, without duplicates."""
    return list(dict.fromkeys(path for _, path in (*input_paths(step), *templates(step))))


def validated(step: StepSpec) -> list[str]:
    """Return the paths that the validation checks, without duplicates."""
    return list(dict.fromkeys((*step.targets, *(step.outputs or ()))))


def all_paths(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """Yield every path in a step."""
    yield from input_paths(step)
    yield from templates(step)
    yield from targets(step)
    yield from outputs(step)
