# --- Steps one by one, for targets that call a program for each (B4), and runs that go on after a failure (B16).
ONLY = []  # the step that this call does alone, "" where it does none
LIKE = {"open": "run", "step": "resume"}  # the subcommand whose options another one has

def steps_of(program):  # Return the steps in order.
    return list(program["contract"]["steps"])

def step_at(program, state):  # Return the step at which a run stands or has failed; None if it is complete.
    if state.condition == "complete":
        return None
    before = [record["unit"] for record in state.finished] if state.condition == "stop" else []
    for name in (state.node, *reversed(before)):
        step = program["units"].get(name, {}).get("step")
        if step is not None:
            return step
    return None

def statuses(program, state):  # Return the status of each step (B6).
    steps, at = steps_of(program), step_at(program, state)
    place = steps.index(at) if at in steps else len(steps)
    task = program["units"].get(state.node, {}).get("task")
    here = "failed" if state.condition == "stop" else "blocked" if task == "gate" else "running"
    found = {step: "completed" if number < place else "pending" for number, step in enumerate(steps)}
    return {**found, **({at: here} if at in steps else {})}

def open_run(session):  # Begin a run, and do nothing of it.
    ONLY[:], session.options.command = [""], LIKE["open"]
    return session.run()

def step(session):  # Go on with a run through one step.
    name, program = session.options.STEP, session.program
    state = session.read()
    if name not in steps_of(program):
        raise RefusedError(f"there is no step {one_line(name)!a}; there are {', '.join(steps_of(program))}")
    if state is not None and statuses(program, state)[name] == "completed":
        session.display.rule(f"step {name} is completed")
        return EXIT_COMPLETE
    due = step_at(program, state) if state is not None else None
    if due != name:
        raise RefusedError(f"step {name} is not due: the run stands at step {due}")
    ONLY[:], session.options.command = [name], LIKE["step"]
    return session.resume()

def halt(session):  # Say that a call ends where its one step does.
    if not ONLY or session.program["units"][session.state.node].get("step") == ONLY[0]:
        return ""
    return f"step {ONLY[0]} is completed" if ONLY[0] else f"run {session.state.begin['run']} is open"

def not_begun(program, move, _before, stand):  # Leave the step that follows for another call.
    is_other = ONLY and program["units"][move.node].get("step") != ONLY[0]
    if is_other and stand["condition"] == "running":
        return {**stand, "condition": "ready"}
    return stand

def reopen(session, event, _fields):
    """Take a failed run back to the step that failed, with all its attempts (B12), or to the gate that was rejected."""
    state, program = session.state, session.program
    if event != "run_started" or state.condition != "stop":
        return
    is_same = session.is_same(state)
    if not is_same and not session.options.adopt:
        how = f"to resume with this version all the same: {session.call('resume', '--adopt')}"
        found = differences(state.units, session.identity()["units"])
        raise RefusedError(*found, how, "this run belongs to a different version of this program")
    target = _target(program, state)
    unit = program["units"][target]
    do = [[unit["attempt"], "=", 0]] if "attempt" in unit else []
    move = follow(program, {"go": target, "do": do}, state.registers)
    stand = session._stand(move, begins=False)  # it has not begun
    about = {"unit": state.node, "title": "", "attempt": 1, "instances": {}, "outcome": RESUMED, "seconds": 0.0}
    about.update(how="resumed", says="", next=target)
    session.record({"kind": "done", **about, "changed": move.changed, **stand})
    if not is_same:
        session.adopt()

def _target(program, state):  # Return where a failed run goes on.
    units, last, step = program["units"], state.finished[-1], step_at(program, state)
    stages = (name for name, unit in units.items() if unit["task"] == "stage" and unit["step"] == step)
    first = last["unit"] if last["outcome"] == "rejected" else next(stages, "")
    if first not in units:
        raise RefusedError(f"this program does not have the step {step} that failed: begin a new run")
    return first

def steps_told(program, state):  # Return the steps for the status.
    return {"steps": [{"step_id": name, "status": status} for name, status in statuses(program, state).items()]}

def prepare_steps(words):  # Let `open` and `step` have what `run` and `resume` have.
    like = LIKE.get(words[0]) if words else None
    if like:
        load()
        own = [option[1] for option in OPTIONS if words[0] in option[0].split()]
        more = [option for option in OPTIONS if like in option[0].split() and option[1] not in own]
        OPTIONS.extend((words[0], *option[1:]) for option in more)

def status_of_steps(_session, facts, record):  # Return the steps as lines that stand above the units.
    told = facts["steps"] if record is None else ()
    lines = [f"{one['status']:9}  {one_line(one['step_id'])}" for one in told]
    return [*(f"  {line}" for line in lines), *([""] if lines else [])]

ASKS.append(prepare_steps)
TAILS.append(status_of_steps)
STANDS.append(not_begun)
HALTS.append(halt)
EVENTS.append(reopen)
FACTS.append(steps_told)
COMMANDS.pop("goto", None)  # a completed step is never done again (B16)
COMMANDS["open"] = ("begin a run, and do nothing of it", open_run)
COMMANDS["step"] = ("go on with a run through one step", step)
OPTIONS.append(("step", "STEP", "", "the step that is due"))

