"""Branches as steps of their own on GitHub: what an edge asks for is compared exactly, and a label says which it is."""

from typing import Optional

from runtime_shim.runner_calls import DOING, Caller
from runtime_shim.runner_says import output
from runtime_shim.runner_state import Outcome
from runtime_shim.walk import advance


def route(caller: Caller, _script: Optional[str]) -> Outcome:
    """Say by a label that rdc has made where the run goes on."""
    run = caller.run
    token = run.program["steps"][advance(run.program, run.node, run.registers, "").node]
    label: str = run.unit["labels"].get(token, token)
    output("branch", label)
    print(f"{run.token}: {label}", flush=True)
    return Outcome(label)


DOING["route"] = route
