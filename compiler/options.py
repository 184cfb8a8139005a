"""The options of a document (`rdc:` in its frontmatter) and of a project (`rdc.toml` or `[tool.rdc]`)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Options(BaseModel):
    """What can be set for a document or for all documents of a project. `targets` has a table for each backend."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    transitions: Literal["after-body", "after-header"] | None = Field(None, description="where the transitions of a unit stand (V7)")
    targets: dict[str, dict[str, Any]] = Field(default_factory=dict, description="options of a target, by its name")


def document_options(value: object) -> tuple[Options, list[str]]:
    """The options in a plain value, and a text for each thing that is wrong; then the options are the defaults."""
    try:
        return Options.model_validate(value), []
    except ValidationError as error:
        return Options(), problems(error)


def problems(error: ValidationError) -> list[str]:
    """A pydantic error as texts such as "transitions: Input should be 'after-body' or 'after-header'"."""
    found = []
    for item in error.errors(include_url=False, include_input=False):
        place = ".".join(str(part) for part in item["loc"])
        found.append(f"{place}: {item['msg']}" if place else item["msg"])
    return found
