# --- Steps of a specification as others see them (B6), and runs that go on after a failure (B12, B16).
def context_previewed(session, _node):
    return f"look up the context: {config_of(session)['context']}"

def guardrails_previewed(_session, _node):
    return "check the outputs by their guardrails"

def always(_session, _node):
    return True

def never(_session, _node):
    return False

class StepStages(Stages):
    kinds = {
        "inputs": StageKind(look_at_inputs, inputs_previewed, never),
        "context": StageKind(look_up_context, context_previewed, always),
        "tool": StageKind(call_tool, tool_previewed, calls_command),
        "execute": StageKind(execute_step, execution_previewed, always),
        "guardrails": StageKind(look_at_outputs, guardrails_previewed, never),
        "validation": StageKind(validate, validation_previewed, never),
        "outputs": StageKind(index_outputs, outputs_previewed, never),
    }

def steps_of(program):
    return list(program["contract"]["steps"])

def step_at(program, state):
    if state.condition == "complete":
        return None
    last = [record["node"] for record in state.finished[-1:]] if state.condition == "stop" else []
    for name in (state.node, *last):
        step = program["nodes"].get(name, {}).get("step")
        if step is not None:
            return step
    return None

def statuses(program, state):
    steps, at = steps_of(program), step_at(program, state)
    here = status_at(program, state)
    before = steps if state.condition == "complete" else steps[: steps.index(at)] if at in steps else ()
    found = {step: COMPLETED if step in before else PENDING for step in steps}
    return {**found, **({at: here} if at in steps else {})}

def status_at(program, state):
    last = state.finished[-1] if state.finished else {**state.begin, "node": "", "outcome": ""}
    task = program["nodes"].get(state.node, {}).get("task")
    if state.condition == "stop" or (state.condition == "ready" and last["outcome"] == RESUMED):
        return FAILED
    if task == "gate":
        return BLOCKED
    if state.condition != "ready" or last["condition"] != "ready":
        return RUNNING
    before = program["nodes"].get(last["node"], {})
    if before.get("step") != program["nodes"][state.node].get("step"):
        return PENDING
    return BLOCKED if before["task"] == "gate" else RUNNING

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

class Specification(Extension):
    options = (
        ("run resume", "--executor", "COMMAND", "does the work of steps: the step as JSON on standard input"),
        ("run resume", "--tool", "NAME=COMMAND...", "the command that a tool is"),
    )
    performers = {"stage": StepStages}
    builder = StepBuilder
    reopens = True
    _resumes = False  # whether the next record of this call is the first one of a run that it resumes
    @staticmethod
    def suits(program):
        return "contract" in program
    def prepare(self):
        pairs("--tool", self.session.options.tool)
    def identify(self, nodes):
        contract = self.session.program["contract"]
        common = {key: contract[key] for key in contract if key != "steps"}
        return {
            name: {**node, "contract": [common, contract["steps"].get(node.get("step"))]}
            for name, node in nodes.items()
        }
    def open(self):
        session, state, program = self.session, self.session.state, self.session.program
        if session.options.command != "resume" or not session.options.adopt or session.is_same(state):
            return
        done, at = {record["node"] for record in state.finished}, step_at(program, state)
        steps = steps_of(program)
        before = steps[: steps.index(at)] if at in steps else []
        skipped = [name for step in before for name in (*undecided(program, state, step), *([step][step in done :]))]
        if state.condition != "stop" and is_stage_of(program["nodes"].get(state.node, {"task": ""}), at):
            skipped += undecided(program, state, at)
        if skipped:
            raise RefusedError(
                f"this version has {one_line(skipped[0])} before {at}, and the run was not there: begin anew"
            )
    def resumed(self):
        session, state = self.session, self.session.state
        self._note_resumed(session.options.only)
        if state.condition == "stop":
            if not session.is_same(state) and not session.options.adopt:
                raise session.of_another_version(state)
            reopen(session)
    def _note_resumed(self, only):
        nodes, last = self.session.program["nodes"], self.session.state.finished[-1:]
        is_same_step = any(nodes.get(one["node"], {}).get("step") in (only or ()) for one in last)
        is_stage = any(nodes.get(one["node"], {}).get("task") == "stage" for one in last)
        self._resumes = only is None or (is_same_step and is_stage)
    def record(self, record):
        kind = record.get("kind")
        if kind in ("resume", "done") and self._resumes:
            self._resumes = False
            record = {**record, "resumes": True}
        is_gate = kind == "done" and self.session.program["nodes"].get(record["node"], {}).get("task") == "gate"
        return {**record, "by": record.get("by") or user()} if is_gate else record
    def end(self):
        if self.session.state.condition == "stop":
            is_rejected = self.session.state.finished[-1]["outcome"] == "rejected"
            what = "ask for this approval" if is_rejected else "try"
            self.session.display.rule(f"to {what} again: {self.session.call('resume')}")
    def facts(self, state):
        found = statuses(self.session.program, state).items()
        return {"steps": [{"step_id": name, "status": status} for name, status in found]}
    def lines(self, facts, record):
        told = facts["steps"] if record is None else ()
        lines = [f"{one['status']:9}  {one_line(one['step_id'])}" for one in told]
        return [*(f"  {line}" for line in lines), *([""] if lines else [])]

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

MAKE_WORDS = {"--assume": "ASSUME", "--gate": "GATE"}
MAKE_FLAGS = {"--rerun-interrupted": "RERUN=1", "--adopt": "ADOPT=1"}
MAKE_VERBS = ("run", "resume", "status", "answer", "approve", "reset")

class Called(Extension):
    @staticmethod
    def suits(program):
        return "contract" in program
    def __init__(self, session):
        super().__init__(session)  # neither is for what the program calls
        self._make = os.environ.pop("RDC_MAKE", "")  # what the commands of an operator begin with
        self._workspace = os.environ.pop("RDC_WORKSPACE", "")  # where a run goes on that began elsewhere
    def call(self, words):
        verb, *rest = words
        if not self._make or verb not in MAKE_VERBS:
            return ""
        if verb == "answer" and len(rest) == 2:
            node, reply = map(shlex.quote, rest)
            return f"{self._make}answer STEP={node} REPLY={reply}"
        given, more = [verb], iter(rest)
        for word in more:
            if word not in MAKE_FLAGS and word not in MAKE_WORDS:
                return ""
            given.append(MAKE_FLAGS.get(word) or f"{MAKE_WORDS[word]}={shlex.quote(next(more, ''))}")
        return self._make + " ".join(given)
    def read(self, state):
        if self._workspace:
            state.begin = {**state.begin, "cwd": self._workspace}

