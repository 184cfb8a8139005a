# --- Specifications: steps as others see them, runs that go on after a failure.
def step_at(program, state):
    if state.condition == "complete":
        return None
    last = [record["node"] for record in state.finished[-1:]] if state.condition == "stop" else []
    steps = (program["nodes"].get(name, {}).get("step") for name in (state.node, *last))
    return next(filter(None, steps), None)
def _target(program, state):
    nodes, last, step = program["nodes"], state.finished[-1], step_at(program, state)
    due = (*undecided(program, state, step), *(name for name in nodes if is_stage_of(nodes[name], step)))
    first = last["node"] if last["outcome"] == "rejected" else next(iter(due), "")
    if first not in nodes:
        raise RefusedError(f"this program does not have {one_line(last['node'])}, which failed: begin a new run")
    return first
def is_stage_of(node, step):
    return bool(node["task"] == "stage" and node["step"] == step)
def undecided(program, state, step):
    approved = {record["node"] for record in state.finished if record["outcome"] == "approved"}
    nodes = program["nodes"].items()
    return [name for name, node in nodes if node["task"] == "gate" and node["step"] == step and name not in approved]
def reopen(session):
    state, program = session.state, session.program
    is_same, target = session.is_same(state), _target(program, state)
    node = program["nodes"][target]
    do = [[node["attempt"], "=", 0]] if "attempt" in node else []
    move = follow(program, {"go": target, "do": do}, state.registers)
    about = {"node": state.node, "title": "", "attempt": 1, "instances": {}, "outcome": RESUMED, "seconds": 0.0}
    about.update(how="resumed", says="", next=target)
    session.record({"kind": "done", **about, "changed": move.changed, **session.stand(move, begins=False)})
    if not is_same:
        session.adopt()

class Specification(Extension):
    options = (
        ("run resume", "--executor", "COMMAND", "does the work of steps: the step as JSON on standard input"),
        ("run resume", "--tool", "NAME=COMMAND...", "the command that a tool is"),
    )
    performers = {"stage": StepStages}
    builder = StepBuilder
    reopens = True
    _resumes = False  # whether the next record of this call is the first one of a run that it resumes
    def prepare(self):
        pairs("--tool", self.session.options.tool)
    def identify(self, nodes):
        contract = self.session.program["contract"]
        common, steps = {key: contract[key] for key in contract if key != "steps"}, contract["steps"]
        return {name: {**node, "contract": [common, steps.get(node.get("step"))]} for name, node in nodes.items()}
    def open(self):
        session, state, program = self.session, self.session.state, self.session.program
        if session.options.command != "resume" or not session.options.adopt or session.is_same(state):
            return
        done, at = {record["node"] for record in state.finished}, step_at(program, state)
        steps = list(program["contract"]["steps"])
        before = steps[: steps.index(at)] if at in steps else []
        skipped = [name for step in before for name in (*undecided(program, state, step), *([step][step in done :]))]
        if state.condition != "stop" and is_stage_of(program["nodes"].get(state.node, {"task": ""}), at):
            skipped += undecided(program, state, at)
        if skipped:
            told = f"this version has {one_line(skipped[0])} before {at}"
            raise RefusedError(f"{told}, and the run was not there: begin anew")
    def resumed(self):
        session, state, only = self.session, self.session.state, self.session.options.only
        last = state.finished[-1:]
        before = session.program["nodes"].get(last[0]["node"], {}) if last else {}
        # A `step` that follows the one before it does not resume the run.
        self._resumes = not only or (before.get("task") == "stage" and last[0]["node"] in only)
        if only == [] and state.condition == "ready":  # an `open` that takes over a run says so, and does no step
            self._resumes = False
            session.record({"kind": "rest", "condition": "ready", "time": utc_now(), "resumes": True})
        if state.condition == "stop":
            if not session.is_same(state) and not session.options.adopt:
                raise session.of_another_version(state)
            reopen(session)
    def record(self, record):
        kind = record.get("kind")
        if kind in ("resume", "done") and self._resumes:
            self._resumes = False
            record = {**record, "resumes": True}
        is_gate = kind == "done" and self.session.program["nodes"].get(record["node"], {}).get("task") == "gate"
        return {**record, "by": record.get("by") or user()} if is_gate else record
    def end(self):
        for what, command in self.again(self.session.state):
            self.session.display.rule(f"{what}: {command}")
    def again(self, state):
        if state.condition != "stop":
            return []
        is_rejected = state.finished[-1]["outcome"] == "rejected"
        adopt = ["--adopt"][self.session.is_same(state) :]
        what = "to ask for this approval again" if is_rejected else "to try again"
        return [(what, self.session.call("resume", *adopt))]
    def facts(self, state):
        found = records_of(self.session, state).steps.items()
        return {"steps": [{"step_id": name, "status": about["status"]} for name, about in found]}
    def lines(self, facts, record):
        told = facts["steps"] if record is None else ()
        lines = [f"  {one['status']:9}  {one_line(one['step_id'])}" for one in told]
        return [*lines, *([""] if lines else [])]

class Placeholders(Extension):
    options = (("run", "--var", "NAME=VALUE...", "the same as --input"),)
    @staticmethod
    def suits(program):
        return bool(program.get("inputs"))
    def prepare(self):
        options = self.session.options
        options.input = [*options.input, *options.var]
    def open(self):
        session = self.session
        nodes = session.program["nodes"].values() if session.options.command == "run" else ()
        for path, step in ((path, node["step"]) for node in nodes for path in paths_of(session, node)):
            if os.path.isabs(path) or os.pardir in path.split(os.sep):
                where = f"the path {one_line(path)} of step {step}"
                raise RefusedError(f"{where} is not inside the project: give its placeholders other values")

