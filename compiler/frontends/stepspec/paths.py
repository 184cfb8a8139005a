"""The paths in a step: which of its inputs are paths, and what must be there when it starts (B2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.frontends.stepspec.placeholders import template_path
from compiler.frontends.stepspec.syntax import StepSpec
from compiler.regex import Regex

TARGETS = "validation_targets"
"""The input that names files to validate. They need not be there when the step starts: it may make them."""

_NAMES = Regex(r"artifacts?|(?:.*_)?(?:paths?|files?)|documents?|telis_document_path")
_IN_FOLDER = Regex(r"\{[A-Za-z_][A-Za-z0-9_]*(?:folder|path|dir)\}/\S+")

Path = tuple[str | int, ...]


def input_paths(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """The paths among the inputs, and what leads to each.

    They stand under `artifacts`, `files` and the like, or begin with a placeholder of a folder.
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
    """The paths of the templates, and what leads to each."""
    for number, written in enumerate(step.templates or ()):
        yield ("templates", number), template_path(written)


def outputs(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """The paths of the outputs, and what leads to each."""
    for number, written in enumerate(step.outputs or ()):
        yield ("outputs", number), written


def targets(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """The further files that are validated, and what leads to each."""
    for number, written in enumerate(step.targets):
        yield ("inputs", TARGETS, number), written


def needed(step: StepSpec) -> list[str]:
    """What must be there when the step starts, each once."""
    return list(dict.fromkeys(path for _, path in (*input_paths(step), *templates(step))))


def validated(step: StepSpec) -> list[str]:
    """What the validation looks at, each once."""
    return list(dict.fromkeys((*step.targets, *(step.outputs or ()))))


def all_paths(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """Every path in a step."""
    yield from input_paths(step)
    yield from templates(step)
    yield from targets(step)
    yield from outputs(step)
