"""The steps of a run as its records have them: what each is, and how its status may change (B6)."""

from runtime_shim.engine.program import Table

PENDING, RUNNING, BLOCKED, FAILED, COMPLETED = "pending", "running", "blocked", "failed", "completed"
ALLOWED = {
    PENDING: (RUNNING,),
    RUNNING: (COMPLETED, FAILED, BLOCKED),
    FAILED: (RUNNING,),
    BLOCKED: (RUNNING,),
    COMPLETED: (),
}


class IllegalTransitionError(Exception):
    """A status that a step cannot change to: an error in rdc, or a journal that rdc has not written."""


def run_step(spec: Table) -> Table:
    """Return the record of a step that has not begun (B14)."""
    return {
        "step_id": spec["id"],
        "name": spec.get("name", ""),
        "status": PENDING,
        "attempts": 0,
        "started_at": None,
        "ended_at": None,
        "error": None,
        "inputs": spec.get("inputs", {}),
        "outputs": spec.get("outputs", []),
        "tools": [],
        "telis_context": None,
        "guardrails": {"input": None, "output": None},
    }


def change(step: Table, status: str) -> None:
    """Change the status of a step; any change that is not allowed is a bug, and raises."""
    if status not in ALLOWED[step["status"]]:
        raise IllegalTransitionError(f"step {step['step_id']}: {step['status']} cannot become {status}")
    step["status"] = status


def start(step: Table, time: str) -> None:
    """Let a step run, if it does not."""
    if step["status"] != RUNNING:
        change(step, RUNNING)
    step["started_at"] = step["started_at"] or time
    step["ended_at"] = None


def end(step: Table, status: str, time: str) -> None:
    """Let a step be completed or failed."""
    change(step, status)
    step["ended_at"] = time
