"""What texts and commands of one inclusion of a runbook see: inputs and outputs, each kept in a slot (E1, E2, E9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from compiler.frontends.rundown.beyond.declarations import Declarations
from compiler.ir.edges import Clear, Keep
from compiler.ir.program import Slot, Variable


class Visible(Struct, frozen=True, dict=True):
    """The slots of what a runbook declares, by name; those of `outputs` commands may write.

    `added` are the slots that the runbook around it does not have.
    """

    slots: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    added: tuple[Slot, ...] = ()

    @property
    def fresh(self) -> tuple[Clear, ...]:
        """What is done when a nested runbook begins: its own outputs are unset."""
        own = {self.slots[name] for name in self.outputs}
        return tuple(Clear(slot.name) for slot in self.added if slot.name in own)

    @cached_property
    def keeps(self) -> tuple[Keep, ...]:
        """What each edge of a command does: any command may write any output (E2)."""
        return tuple(Keep(self.slots[name], "output", name) for name in self.outputs)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The environment variables of commands."""
        return tuple(Variable(name, slot) for name, slot in self.slots.items())

    @cached_property
    def references(self) -> dict[str, str]:
        """The slots by what is written for them in texts."""
        return {written(name): slot for name, slot in self.slots.items()}


def written(name: str) -> str:
    """What stands in a text for the value of an input or output."""
    return f"{{{{{name}}}}}"


def visible(declared: Declarations, outer: Visible | None = None, prefix: str = "") -> Visible:
    """What a runbook sees: what it declares itself.

    What the runbook around it declares too is one and the same; everything else is in slots of its own, whose names
    begin with `prefix`: an input with its default, an output unset.
    """
    shared = outer.slots if outer else {}
    slots = {name: shared.get(name, prefix + name) for name in declared.slots}
    return Visible(slots, tuple(declared.outputs), tuple(_added(declared, slots, shared, is_main=outer is None)))


def _added(
    declared: Declarations, slots: Mapping[str, str], shared: Mapping[str, str], *, is_main: bool
) -> Iterator[Slot]:
    """The slots that are no other runbook's. That of an input of the program is filled when a run begins (I8)."""
    for item in declared.inputs:
        if item.input.name not in shared:
            yield Slot(slots[item.input.name], None if is_main else item.input.default)
    for name in declared.outputs:
        if name not in shared:
            yield Slot(slots[name])
