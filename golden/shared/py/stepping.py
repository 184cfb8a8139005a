# --- Programs that another one calls step by step: `open` begins a run, `step` goes on through the places it names.
def is_at(program, name, places):
    return name in places or program["nodes"].get(name, {}).get("step") in places

def open_run(session):
    session.options.only = []
    state = session.read_state() if os.path.exists(session.store.path) else None
    if state is None or state.condition in ENDED:
        session.options.command = "run"
        return run(session)
    session.options.command = "resume"
    return resume(session)

def step(session):
    places, state = session.options.PLACE, session.read()
    known = {name for node_id in session.places for name in (node_id, session.program["nodes"][node_id].get("step"))}
    for place in places:
        if place not in known:
            raise RefusedError(f"there is no step {one_line(place)!a}; `steps` lists the steps")
    if state is not None and (state.condition == "complete" or not is_at(session.program, _stands(state), places)):
        return _elsewhere(session, state, places)
    session.options.only, session.options.command = places, "resume"
    return resume(session)

def _stands(state):
    return str(state.finished[-1]["node"]) if state.condition == "stop" and state.finished else state.node

def _elsewhere(session, state, places):
    told, order = one_line(" ".join(places)), list(session.program["nodes"])
    last = max(order.index(name) for name in session.places if is_at(session.program, name, places))
    reopens = any(extension.reopens for extension in session.extensions)
    if state.condition == "stop" and not (reopens and order.index(_stands(state)) > last):
        session.display.rule(f"STOP {one_line(state.message)}".rstrip())
        return EXIT_STOP
    if state.condition == "complete" or order.index(_stands(state)) > last:
        session.display.rule(f"step {told} is completed")
        return EXIT_COMPLETE
    if state.condition == "waiting":
        session.state = state  # titles may have its counters in them
        session.display.rule(f"WAITING {session.label(state.node)}")
        return EXIT_WAITING
    raise RefusedError(f"step {told} is not due: the run stands at step {state.node}")

class Stepping(Extension):
    commands = {
        "open": ("begin a run, and do nothing of it", open_run),
        "step": ("go on with a run through these steps", step),
    }
    options = (("step", "PLACE", "STEP...", "the steps that are due"),)
    def prepare(self):
        self.session.options.only = None
    def _is_over(self, name):
        only = self.session.options.only
        return only is not None and not is_at(self.session.program, name, only)
    def stand(self, move, _before, stand):
        return (
            {**stand, "condition": "ready"} if stand["condition"] == "running" and self._is_over(move.node) else stand
        )
    def halt(self):
        only, state = self.session.options.only, self.session.state
        if not self._is_over(state.node):
            return ""
        return f"step {one_line(' '.join(only))} is completed" if only else f"run {state.begin['run']} is open"

