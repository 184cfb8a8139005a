"""What a run tells of its steps, and of the groups and nested documents that it comes into and leaves (M8)."""

from typing import Optional

from runtime_shim.engine.display import Display
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import clean, one_line
from runtime_shim.engine.walk import Move, Registers, attempt_of, filled, instances_of


class Telling:
    """The texts of a program, with what the registers of a run put into them."""

    program: Table
    display: Display
    state: State
    _group = ""  # that of the last step

    def filled(self, node: Table, key: str, registers: Optional[Registers] = None) -> str:
        """Return a text of a step, whole."""
        return filled(node, node.get(key, ""), self.state.registers if registers is None else registers)

    def label(self, name: str) -> str:
        """Return a step's name and title as people read them."""
        return one_line(f"{name} {self.filled(self.program['nodes'][name], 'title')}")

    def texts(self, node: Table, key: str) -> list[str]:
        """Return a text of a step as the lines in which it is shown."""
        return [f"    {line}".rstrip() for line in clean(self.filled(node, key)).strip("\n").splitlines()]

    def about(self, name: str) -> Record:
        """Return a step as records and events have it."""
        node, now = self.program["nodes"][name], self.state.registers
        about = {"node": name, "title": self.filled(node, "title"), "attempt": attempt_of(node, now)}
        return {**about, "instances": instances_of(node, now)}

    def come_into(self, group: str) -> None:
        """Show a group where the step before was in another one, or in none."""
        if group and group != self._group:
            step, display = self.program["groups"][group], self.display
            display.line(display.paint(one_line(f"{group} {' '.join(self.texts(step, 'title'))}"), "bold"))
            for line in self.texts(step, "prompt"):
                display.line(display.paint(line, "dim"))
        self._group = group

    def tell_passed(self, move: Move) -> None:
        """Show the results of nested documents that a run has passed."""
        for name in move.passed:
            node = self.program["nodes"][name]
            if node["task"] == "end":
                self.display.line("    " + one_line(f"{name} {self.filled(node, 'message', move.registers)}"))
