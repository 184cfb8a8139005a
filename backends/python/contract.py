"""The contract of a program in the runtime's format. `runtime_shim/contract/step_builder.py` reads it (I32)."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

from backends.marks import Marks
from backends.python.places import placeholders
from compiler.ir.program import Program


def contract_table(program: Program, slots: Container[str]) -> dict[str, Any]:
    """Return the workflow, the configuration, and each step's specification with marks for its references."""
    contract = program.contract
    if contract is None:
        return {}
    marks = Marks(step.spec for step in contract.steps)
    found: dict[str, Any] = {"workflow": json.loads(contract.workflow)}
    if config := json.loads(contract.config):
        found["config"] = config
    found["steps"] = {step.id: json.loads(marks.text(step.spec)) for step in contract.steps}
    return found | placeholders(marks, slots)
