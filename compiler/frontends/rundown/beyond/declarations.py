"""Declarations of a document: inputs, outputs, secrets and step settings."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from compiler.ir.program import Input
from compiler.issues import Place, Places
from compiler.options import Table
from compiler.source import nearest

EVERY = "*"
"""The key for all steps in `steps:` (E3)."""


class DeclaredInput(Struct, frozen=True):
    """An input and the place of its name."""

    input: Input
    place: Place


class StepSettings(Struct, frozen=True):
    """The settings of one step or group; None where a key is not set. Times are in seconds (E3)."""

    step: str
    places: Places
    timeout: int | None = None
    delay: int | None = None
    backoff: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def place(self, *path: str) -> Place:
        """Return the place of a key, or of the whole settings if the key has no place."""
        return nearest(self.places, path) or self.places[()]


class Declarations(Struct, frozen=True):
    """The declarations of one document; outputs and secrets are names with their places.

    `for_targets` has the step settings that only targets use. `shell` is how code blocks run: `strict`, `plain`, or ""
    for the default (E13).
    """

    inputs: tuple[DeclaredInput, ...] = ()
    outputs: Mapping[str, Place] = field(default_factory=dict)
    secrets: Mapping[str, Place] = field(default_factory=dict)
    steps: tuple[StepSettings, ...] = ()
    for_targets: Table | None = None
    shell: str = ""

    @property
    def slots(self) -> dict[str, Place]:
        """The names of inputs and outputs with their places, inputs first."""
        return {**{item.input.name: item.place for item in self.inputs}, **self.outputs}
