"""How often a run may do steps (I24), and how long it waits before further attempts (I22)."""

import time
from typing import Optional

from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension, Perform
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import duration
from runtime_shim.engine.walk import Move, Registers, attempt_of

LONGEST_PAUSE = 10**8  # seconds: as good as for ever, and no overflow


def counts(program: Table, name: str) -> bool:
    """Tell whether doing a step counts; waiting at a gate does not."""
    return bool(program["nodes"].get(name, {}).get("task") != "gate")


class Limit(Extension):
    """Ends a run by STOP where one task more would be done than may be."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has a limit."""
        return "limit" in program

    def stand(self, move: Move, before: Optional[State], stand: Record) -> Record:
        """Return what a run does; one that an operator allows more steps has that limit, and 0 is none."""
        program = self.session.program
        if before is None or not counts(program, move.node):
            return stand
        done = [*(record["node"] for record in before.finished if record["outcome"] != "goto"), before.node]
        others = [found for allowed in self.session.at("steps_allowed") if (found := allowed(before)) is not None]
        limit = others[-1] if others else program["limit"]
        if not limit or sum(counts(program, name) for name in done) < limit:
            return stand
        message = f"{move.node}: the limit of {limit} steps was reached"
        return {"condition": "stop", "message": message, "limited": limit}


def pause_of(node: Table, registers: Registers) -> int:
    """Return how many seconds a run waits before the attempt at a step that is due."""
    further = attempt_of(node, registers) - 2
    delay, backoff = node.get("delay", 0), node.get("backoff", 1)
    if further < 0 or not delay:
        return 0
    return int(min(delay * backoff ** min(further, 64), LONGEST_PAUSE))


class Pauses(Extension):
    """Waits before a further attempt: interrupted by signals, and resumed for what is left of the pause."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether a step has a delay."""
        return any("delay" in node for node in program["nodes"].values())

    def stand(self, move: Move, _before: Optional[State], stand: Record) -> Record:
        """Record until when a run waits; the step has not begun before."""
        seconds = pause_of(self.session.program["nodes"][move.node], move.registers)
        if not seconds:
            return stand
        condition = "ready" if stand["condition"] == "running" else stand["condition"]
        return {**stand, "condition": condition, "due": time.time() + seconds}

    def before_step(self, name: str) -> Optional[Perform]:
        """Wait for what is left of a pause."""
        session = self.session
        last = session.state.finished[-1] if session.state.finished else {}
        whole = pause_of(session.program["nodes"][name], session.state.registers)
        left = min(last.get("due", 0.0) - time.time(), whole)  # the clock may have been set back
        if left > 0 and session.state.condition in ("ready", "waiting"):
            session.display.line(f"    waiting {duration(left)} before this attempt")
            with session.signals:
                time.sleep(left)
        return None
