"""The limit of how many times tasks may be done in a run (I24)."""

from typing import Callable, Optional

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import STANDS
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import Move

LIMITS: list[Callable[[State], Optional[int]]] = []  # what modules know of another limit for a run; 0 is none


def counts(program: Table, name: str) -> bool:
    """Tell whether doing a step counts; waiting at a gate does not."""
    return bool(program["nodes"].get(name, {}).get("task") != "gate")


def within_limit(program: Table, move: Move, before: Optional[State], stand: Record) -> Record:
    """End a run by STOP where one task more would be done than may be."""
    if before is None or not counts(program, move.node):
        return stand
    done = [*(record["node"] for record in before.finished if record["outcome"] != "goto"), before.node]
    others = [found for found in (look(before) for look in LIMITS) if found is not None]
    limit = others[-1] if others else program["limit"]
    if not limit or sum(counts(program, name) for name in done) < limit:
        return stand
    message = f"{move.node}: the limit of {limit} steps was reached"
    return {"condition": "stop", "message": message, "limited": limit}


STANDS.append(within_limit)
