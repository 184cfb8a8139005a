"""The names of places and counters in the language of a target."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Identifiers(Struct, frozen=True):
    """Identifiers of nodes by their ids, and of counters by their names."""

    nodes: Mapping[str, str]
    counters: Mapping[str, str]

    def output(self, counter: str) -> str:
        """Return the property of a loop's step that reports a counter."""
        return f"outputs.{self.counters[counter].removeprefix('rdc_')}"
