"""Inputs and outputs that one inclusion of a runbook can use, each kept in a slot (E1, E2, E9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from compiler.frontends.rundown.beyond.declarations import Declarations
from compiler.ir.edges import Clear, Keep
from compiler.ir.program import Slot, Variable


class Visible(Struct, frozen=True, dict=True):
    """The slots of a runbook's inputs and outputs by name; commands can write those in `outputs`.

    `added` are the slots that the surrounding runbook does not have.
    """

    slots: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    added: tuple[Slot, ...] = ()

    @property
    def fresh(self) -> tuple[Clear, ...]:
        """The effects when a nested runbook starts: its own outputs are unset."""
        own = {self.slots[name] for name in self.outputs}
        return tuple(Clear(slot.name) for slot in self.added if slot.name in own)

    @cached_property
    def keeps(self) -> tuple[Keep, ...]:
        """The effects on each edge of a command: any command may write any output (E2)."""
        return tuple(Keep(self.slots[name], "output", name) for name in self.outputs)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The environment variables of commands."""
        return tuple(Variable(name, slot) for name, slot in self.slots.items())

    @cached_property
    def references(self) -> dict[str, str]:
        """The slots by their reference in text, such as `{{version}}`."""
        return {written(name): slot for name, slot in self.slots.items()}


def written(name: str) -> str:
    """Return the reference to an input or output, as written in text."""
    return f"{{{{{name}}}}}"


def visible(declared: Declarations, outer: Visible | None = None, prefix: str = "") -> Visible:
    """Return the inputs and outputs that a runbook can use.

    A name that the surrounding runbook declares too shares its slot. Other names get a slot that starts with `prefix`,
    with the input's default or unset.
    """
    shared = outer.slots if outer else {}
    slots = {name: shared.get(name, prefix + name) for name in declared.slots}
    return Visible(slots, tuple(declared.outputs), tuple(_added(declared, slots, shared, is_main=outer is None)))


def _added(
    declared: Declarations, slots: Mapping[str, str], shared: Mapping[str, str], *, is_main: bool
) -> Iterator[Slot]:
    """Yield the runbook's own slots; an input of the main runbook gets its value when a run starts (I8)."""
    for item in declared.inputs:
        if item.input.name not in shared:
            yield Slot(slots[item.input.name], None if is_main else item.input.default)
    for name in declared.outputs:
        if name not in shared:
            yield Slot(slots[name])
