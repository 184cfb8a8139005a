"""Environment variables with a fixed text for what a step calls (I25)."""

from runtime_shim.interrupted import VARIABLES
from runtime_shim.program import Table
from runtime_shim.walk import Registers


def constants_of(node: Table, _registers: Registers) -> dict[str, str]:
    """Return the variables of a step that no run changes."""
    return dict(node.get("env", {}))


VARIABLES.append(constants_of)
