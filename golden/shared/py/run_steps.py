# --- The steps of a run as its records have them: what each is, and how its status may change (B6).
PENDING, RUNNING, BLOCKED, FAILED, COMPLETED = "pending", "running", "blocked", "failed", "completed"
ALLOWED = {
    PENDING: (RUNNING,),
    RUNNING: (COMPLETED, FAILED, BLOCKED),
    FAILED: (RUNNING,),
    BLOCKED: (RUNNING,),
    COMPLETED: (),
}

class IllegalTransitionError(Exception):
    pass

def run_step(spec):
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

def change(step, status):
    if status not in ALLOWED[step["status"]]:
        raise IllegalTransitionError(f"step {step['step_id']}: {step['status']} cannot become {status}")
    step["status"] = status

def start(step, time):
    if step["status"] != RUNNING:
        change(step, RUNNING)
    step["started_at"] = step["started_at"] or time
    step["ended_at"] = None

def end(step, status, time):
    change(step, status)
    step["ended_at"] = time

