"""Slots in a Makefile's script: a file for each text that one has held, a variable that says which (I5, I19)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from backends.make.texts import block
from compiler.ir.edges import Clear, Keep, SlotTest


@dataclass(slots=True)
class FileSlots:
    """Writes tests and effects. `variables` are the names of slots; it remembers the texts that its lines refer to."""

    variables: Mapping[str, str]
    _texts: dict[tuple[str, str], str] = field(default_factory=dict)

    def holds(self, test: SlotTest) -> str:
        """A command that compares the file byte for byte."""
        name = self.variables[test.slot]
        command = f'holds {name} "${name}" {self._block("equals", test.text)}'
        return command if test.operator == "==" else f"! {command}"

    def keep(self, effect: Keep) -> list[str]:
        """The lines that write the file, and give the variable the number of the line that the journal has for it."""
        name = self.variables[effect.slot]
        if effect.of == "value":
            return [f"! keep_value {name} {effect.name} || {name}=$rdc_count"]
        if effect.extract is not None:
            return [f"keep_field {name} {self._block('field', effect.extract)}", f"{name}=$rdc_count"]
        return [f"keep_answer {name}", f"{name}=$rdc_count"]

    def clear(self, effect: Clear) -> list[str]:
        """The line that makes the slot unset."""
        return [f"{self.variables[effect.slot]}=0"]

    def blocks(self) -> Iterator[str]:
        """The texts that the lines refer to, once they are all written."""
        for (_, text), name in self._texts.items():
            yield from block(name, text)

    def _block(self, kind: str, text: str) -> str:
        return self._texts.setdefault((kind, text), f"{kind}_{len(self._texts) + 1}")
