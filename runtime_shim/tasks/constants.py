"""Environment variables with a fixed text for what a step calls (I25)."""

from runtime_shim.engine.program import Table
from runtime_shim.engine.walk import Registers
from runtime_shim.tasks.interrupted import VARIABLES


def constants_of(node: Table, _registers: Registers) -> dict[str, str]:
    """Return the variables of a step that no run changes."""
    return dict(node.get("env", {}))


VARIABLES.append(constants_of)
