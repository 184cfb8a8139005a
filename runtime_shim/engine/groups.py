"""What a step with substeps says when a run comes into it."""

from runtime_shim.engine.display import one_line
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import ENTERS, Session


class Groups:
    """Shows the title and the prompt of a group before the first of its steps."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, session: Session, node: Table) -> None:
        """Show a group where the step before was in another one, or in none."""
        group, display = node.get("group", ""), session.display
        if group and group != self._last:
            step = session.program["groups"][group]
            title = " ".join(session.texts(step, "title"))
            display.line(display.paint(one_line(f"{group} {title}"), "bold"))
            for line in session.texts(step, "prompt"):
                display.line(display.paint(line, "dim"))
        self._last = group


ENTERS.append(Groups().show)
