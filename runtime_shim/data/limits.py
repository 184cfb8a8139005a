"""How often a run may do steps (I24), and how long it waits before further attempts (I22)."""

import time
from typing import Optional

from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension, Perform
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import Move, Registers, attempt_of

LONGEST_PAUSE = 10**8  # seconds: as good as forever, and no overflow


def pause_of(node: Table, registers: Registers) -> int:
    """Return how many seconds a run waits before the attempt at a step that is due."""
    further = attempt_of(node, registers) - 2
    if further < 0 or "delay" not in node:
        return 0
    return int(min(node["delay"] * node.get("backoff", 1) ** min(further, 64), LONGEST_PAUSE))


class Limits(Extension):
    """Ends a run by STOP at its limit, and waits before further attempts at a step."""

    def stand(self, move: Move, before: Optional[State], stand: Record) -> Record:
        """Return what a run does: it ends, or waits before the step begins."""
        nodes, limit = self.session.program["nodes"], self.session.program.get("limit")
        if before is not None and limit:
            done = [*(record["node"] for record in before.finished if record["outcome"] != "goto"), before.node]
            is_gate = [nodes.get(name, {}).get("task") == "gate" for name in (move.node, *done)]  # which does not count
            if not is_gate[0] and is_gate.count(False) > limit:
                message = f"{move.node}: the limit of {limit} steps was reached"
                return {"condition": "stop", "message": message, "limited": limit}
        seconds = pause_of(nodes[move.node], move.registers)
        if not seconds:
            return stand
        condition = "ready" if stand["condition"] == "running" else stand["condition"]
        return {**stand, "condition": condition, "due": time.time() + seconds}

    def before_step(self, name: str) -> Optional[Perform]:
        """Wait for what is left of a pause: a signal interrupts it, and a resume waits for the rest."""
        session = self.session
        due = session.state.finished[-1].get("due", 0.0) if session.state.finished else 0.0
        whole = pause_of(session.program["nodes"][name], session.state.registers)
        left = min(due - time.time(), whole)  # the clock may have been set back
        if left > 0 and session.state.condition in ("ready", "waiting"):
            session.display.line(f"    waiting {duration(left)} before this attempt")
            with session.signals:
                time.sleep(left)
        return None
