# --- Runs in which nothing is executed: each command is shown, and a person does it and says what came of it (E4).
CALLED = ("shell", "command", "texts", "timeout", "delay", "backoff")  # what matters only where something is called

def is_prompted(session, state):  # Tell whether a run executes nothing; that belongs to the run.
    return bool(state.begin.get("prompted") if state is not None else getattr(session.options, "prompted", False))

def as_prompt(unit):  # Return a command as a question that shows it.
    if unit["task"] != "shell":
        return unit
    kept = {key: value for key, value in unit.items() if key not in CALLED}
    return {**kept, "task": "ask", "question": "pass/fail", "block": unit["command"]}

def prompt(session, state):  # Put commands as questions; what agents and tools do is done by hand.
    if not is_prompted(session, state):
        return
    units = {name: as_prompt(unit) for name, unit in session.program["units"].items()}
    session.program = {**session.program, "units": units}
    for task in {"agent", "parallel"} & {*PERFORMERS}:
        PERFORMERS[task] = type("ByHand", (PERFORMERS[task],), {"command_of": lambda _self, _kind: None})

def mark(session, record):
    """Say in the journal that a run executes nothing; programs that do not know such runs refuse its format."""
    is_beginning = record.get("kind") == "begin" and getattr(session.options, "prompted", False)
    return {**record, "prompted": True, "format": 3} if is_beginning else record

TAKES.append(prompt)
RECORDS.append(mark)
OPTIONS.append(("run", "--prompted", "", "execute nothing: show each command, and ask what came of it"))

