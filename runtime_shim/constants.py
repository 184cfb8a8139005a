"""Environment variables with a fixed text for what a unit calls (I25)."""

from runtime_shim.interrupted import VARIABLES
from runtime_shim.program import Table
from runtime_shim.walk import Registers


def constants_of(unit: Table, _registers: Registers) -> dict[str, str]:
    """Return the variables of a unit that no run changes."""
    return dict(unit.get("env", {}))


VARIABLES.append(constants_of)
