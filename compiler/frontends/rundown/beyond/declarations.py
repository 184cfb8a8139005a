"""What a document declares: inputs, values, secrets, and settings of its units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.frontends.unit_settings import UnitSettings
from compiler.ir.program import Input
from compiler.options import Place, Table


@dataclass(frozen=True, slots=True)
class DeclaredInput:
    """An input, and the place where its name stands."""

    input: Input
    place: Place


@dataclass(frozen=True, slots=True)
class Declarations:
    """All that one document declares. Values and secrets are names with their places.

    `for_targets` is what it says of its units that only targets know to use.
    """

    inputs: tuple[DeclaredInput, ...] = ()
    values: Mapping[str, Place] = field(default_factory=dict)
    secrets: Mapping[str, Place] = field(default_factory=dict)
    units: tuple[UnitSettings, ...] = ()
    for_targets: Table | None = None

    @property
    def slots(self) -> dict[str, Place]:
        """The names that texts can refer to and commands see, inputs first, each with its place."""
        return {**{item.input.name: item.place for item in self.inputs}, **self.values}
