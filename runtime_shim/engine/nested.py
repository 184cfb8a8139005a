"""Ends of nested runbooks, from which a run goes on (M8)."""

from runtime_shim.engine.display import one_line
from runtime_shim.engine.session import PASSES, Session
from runtime_shim.engine.walk import Move, filled


def show_ends(session: Session, move: Move) -> None:
    """Show the ends that a run has passed."""
    for name in move.passed:
        node = session.program["nodes"][name]
        if node["task"] == "end":
            message = filled(node, node.get("message", ""), move.registers)
            session.display.line("    " + one_line(f"{name} {message}"))


PASSES.append(show_ends)
