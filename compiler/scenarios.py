"""The scenarios of a document: named runs with the result that they should have (S1)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from compiler.options import problems


class Scenario(BaseModel):
    """One scenario: the commands of the reference command line, and how the run must end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    commands: tuple[str, ...]
    result: Literal["COMPLETE", "STOP"]
    description: str = ""


_SCENARIOS = TypeAdapter(dict[str, Scenario])


def read_scenarios(value: object) -> tuple[dict[str, Scenario], list[str]]:
    """The scenarios in a plain value, and a text for each thing that is wrong; then there are none."""
    try:
        return _SCENARIOS.validate_python(value), []
    except ValidationError as error:
        return {}, problems(error)
