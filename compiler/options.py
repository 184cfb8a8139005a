"""The options of a document (`rdc:` in its frontmatter) and of a project (`rdc.toml` or `[tool.rdc]`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from pydantic import ValidationError

Layout = Literal["after-body", "after-header"]
"""Where the transitions of a unit stand (V7)."""


@dataclass(frozen=True, slots=True)
class Options:
    """What can be set for a document or for all documents of a project.

    pydantic validates it by these annotations; a plain dataclass is imported faster, and most documents set nothing.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    transitions: Layout | None = None


def document_options(value: object) -> tuple[Options, list[str]]:
    """The options in a plain value, and a text for each thing that is wrong; then the options are the defaults."""
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 (see the class)

    try:
        return TypeAdapter(Options).validate_python(value), []
    except ValidationError as error:
        return Options(), problems(error)


def problems(error: ValidationError) -> list[str]:
    """A pydantic error as texts such as "transitions: Input should be 'after-body' or 'after-header'"."""
    found = []
    for item in error.errors(include_url=False, include_input=False):
        place = ".".join(str(part) for part in item["loc"])
        found.append(f"{place}: {item['msg']}" if place else item["msg"])
    return found
