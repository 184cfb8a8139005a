"""Limits of a run's steps (I24) and pauses before further attempts (I22)."""

import time
from typing import Optional

from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension, Perform
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import Move, Registers, attempt_of

LONGEST_PAUSE = 10**8  # seconds; avoids overflow


def pause_of(node: Table, registers: Registers) -> int:
    """Return how many seconds to wait before the next attempt at a step."""
    further = attempt_of(node, registers) - 2
    if further < 0 or "delay" not in node:
        return 0
    return int(min(node["delay"] * node.get("backoff", 1) ** min(further, 64), LONGEST_PAUSE))


class Limits(Extension):
    """Stops a run at its limit, and waits before further attempts at a step."""

    def stand(self, move: Move, before: Optional[State], stand: Record) -> Record:
        """Stop the run at its limit, or set a pause before the step."""
        nodes, limit = self.session.program["nodes"], self.session.program.get("limit")
        if before is not None and limit:
            done = [*(record["node"] for record in before.finished if record["outcome"] != "goto"), before.node]
            is_gate = [nodes.get(name, {}).get("task") == "gate" for name in (move.node, *done)]  # gates don't count
            if not is_gate[0] and is_gate.count(False) > limit:
                message = f"{move.node}: the limit of {limit} steps was reached"
                return {"condition": "stop", "message": message, "limited": limit}
        seconds = pause_of(nodes[move.node], move.registers)
        if not seconds:
            return stand
        condition = "ready" if stand["condition"] == "running" else stand["condition"]
        return {**stand, "condition": condition, "due": time.time() + seconds}

    def before_step(self, name: str) -> Optional[Perform]:
        """Wait for the rest of a pause. After an interruption, a resume waits for the rest."""
        session = self.session
        due = session.state.finished[-1].get("due", 0.0) if session.state.finished else 0.0
        whole = pause_of(session.program["nodes"][name], session.state.registers)
        left = min(due - time.time(), whole)  # the clock may have been set back
        if left > 0 and session.state.condition in ("ready", "waiting"):
            session.display.line(f"    waiting {duration(left)} before this attempt")
            with session.signals:
                time.sleep(left)
        return None
