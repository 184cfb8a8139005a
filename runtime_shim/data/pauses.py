"""Pauses before further attempts at a step (I22): interrupted by signals, and resumed for what is left of them."""

import time
from typing import Optional

from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import BEFORE, STANDS, Perform, Session
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import Move, Registers, attempt_of

LONGEST_PAUSE = 10**8  # seconds: as good as for ever, and no overflow


def pause_of(node: Table, registers: Registers) -> int:
    """Return how many seconds a run waits before the attempt at a step that is due."""
    further = attempt_of(node, registers) - 2
    delay, backoff = node.get("delay", 0), node.get("backoff", 1)
    if further < 0 or not delay:
        return 0
    return int(min(delay * backoff ** min(further, 64), LONGEST_PAUSE))


def due_after(program: Table, move: Move, _before: Optional[State], stand: Record) -> Record:
    """Record until when a run waits; the step has not begun before."""
    seconds = pause_of(program["nodes"][move.node], move.registers)
    if not seconds:
        return stand
    condition = "ready" if stand["condition"] == "running" else stand["condition"]
    return {**stand, "condition": condition, "due": time.time() + seconds}


def pause(session: Session, name: str) -> Optional[Perform]:
    """Wait for what is left of a pause."""
    last = session.state.finished[-1] if session.state.finished else {}
    node = session.program["nodes"][name]
    whole = pause_of(node, session.state.registers)
    left = min(last.get("due", 0.0) - time.time(), whole)  # the clock may have been set back
    if left > 0 and session.state.condition in ("ready", "waiting"):
        session.display.line(f"    waiting {duration(left)} before this attempt")
        with session.signals.listening():
            time.sleep(left)
    return None


STANDS.append(due_after)
BEFORE.append(pause)
