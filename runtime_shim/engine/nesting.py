"""What is shown where a run comes into a step with substeps, and out of a nested document (M8)."""

from runtime_shim.engine.display import one_line
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import Table
from runtime_shim.engine.walk import Move


class Nesting(Extension):
    """Shows the title and the prompt of a group before the first of its steps, and the results of nested documents."""

    _last = ""

    def enter(self, node: Table) -> None:
        """Show a group where the step before was in another one, or in none."""
        session, group = self.session, node.get("group", "")
        if group and group != self._last:
            step, display = session.program["groups"][group], session.display
            title = " ".join(session.texts(step, "title"))
            display.line(display.paint(one_line(f"{group} {title}"), "bold"))
            for line in session.texts(step, "prompt"):
                display.line(display.paint(line, "dim"))
        self._last = group

    def after_step(self, move: Move) -> None:
        """Show the results that a run has passed."""
        for name in move.passed:
            node = self.session.program["nodes"][name]
            if node["task"] == "end":
                message = self.session.filled(node, "message", move.registers)
                self.session.display.line("    " + one_line(f"{name} {message}"))
