"""What a document declares: inputs, outputs, secrets, and settings of its steps."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from compiler.ir.program import Input
from compiler.options import Place, Places, Table
from compiler.source import nearest

EVERY = "*"
"""Stands for all steps where settings are said of steps (E3)."""


class DeclaredInput(Struct, frozen=True):
    """An input, and the place where its name stands."""

    input: Input
    place: Place


class StepSettings(Struct, frozen=True):
    """What is said of one step, or of all in it; None for what is left open. Times are in seconds (E3)."""

    step: str
    places: Places
    timeout: int | None = None
    delay: int | None = None
    backoff: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def place(self, *path: str) -> Place:
        """The place of a key of it, else its own."""
        return nearest(self.places, path) or self.places[()]


class Declarations(Struct, frozen=True):
    """All that one document declares. Values and secrets are names with their places.

    `for_targets` is what it says of its steps that only targets know to use, `shell` how its blocks are run: `strict`,
    `plain` or "" (E13).
    """

    inputs: tuple[DeclaredInput, ...] = ()
    outputs: Mapping[str, Place] = field(default_factory=dict)
    secrets: Mapping[str, Place] = field(default_factory=dict)
    steps: tuple[StepSettings, ...] = ()
    for_targets: Table | None = None
    shell: str = ""

    @property
    def slots(self) -> dict[str, Place]:
        """The names that texts can refer to and commands see, inputs first, each with its place."""
        return {**{item.input.name: item.place for item in self.inputs}, **self.outputs}
