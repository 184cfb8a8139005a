"""Branches as steps of their own on GitHub: what an edge asks for is compared exactly, and a label says which it is."""

from typing import Optional

from runtime_shim.legacy.runner_calls import DOING, LEAVING, Caller
from runtime_shim.legacy.runner_says import output
from runtime_shim.legacy.runner_state import Outcome, Run
from runtime_shim.legacy.walk import advance


def route(caller: Caller, _script: Optional[str]) -> Outcome:
    """Choose where the run goes on."""
    run = caller.run
    token = run.program["steps"][advance(run.program, run.node, run.registers, "").node]
    label: str = run.unit["labels"].get(token, token)
    print(f"{run.token}: {label}", flush=True)
    return Outcome(label)


def say_branch(run: Run, place: str) -> None:
    """Say by a label that rdc has made where the run has gone on, for the conditions of later steps."""
    token = run.left[place]
    for name in run.program["places"].get(place, ())[:1]:  # what begins a job is no place
        unit = run.program["nodes"][name]
        if unit["task"] == "route":
            output("branch", unit["labels"].get(token, token))


DOING["route"] = route
LEAVING.append(say_branch)
