# --- Runs in which a person replaces commands, agents and tools.
CALLED = ("shell", "command", "texts", "timeout", "delay", "backoff")  # settings of calls
def as_prompt(node):
    if node["task"] != "shell":
        return node
    kept = {key: value for key, value in node.items() if key not in CALLED}
    return {**kept, "task": "ask", "question": "pass/fail", "block": node["command"]}
def asked_for(session, keys):
    def read(value):
        if problem := unfit_variable(value):
            raise RefusedError(f"it {problem}")
        return value
    found = {key: asked(session, f"{key} (leave empty if there is none): ", read) for key in keys}
    return {key: value for key, value in found.items() if value}
def with_hint(session, name, node, waiting):
    written = [key for key in node["outputs"] if re.search(rf"(?<![\w-]){re.escape(key)}(=|<<)", node["block"])]
    if not written:
        return waiting
    values = [word for key in written for word in ("--value", f"{key}=…")]
    first, *others = waiting.args
    return Waiting(first, f"with outputs: {session.call('answer', name, 'pass', *values)}", *others)

class ByHand(Extension):
    mode = "prompted"
    options = (("run", "--prompted", "", "run nothing: show each command and ask for its outcome"),)
    def before_run(self, state):
        session = self.session
        is_prompted = session.options.prompted if state is None else state.begin.get("mode") == self.mode
        if not is_prompted:
            return
        nodes = {name: as_prompt(node) for name, node in session.program["nodes"].items()}
        session.program = {**session.program, "nodes": nodes}
        session.options.tool = []
        for task in {"agent", "parallel"} & {*session.kinds}:
            session.kinds[task] = type("ByHand", (session.kinds[task],), {"command_of": lambda _self, _kind: None})
    def record(self, record):
        is_beginning = record.get("kind") == "begin" and self.session.options.prompted
        return {**record, "mode": self.mode} if is_beginning else record
    def before_step(self, name):
        session, node = self.session, self.session.program["nodes"][name]
        named = [key for key in node.get("outputs", ()) if re.search(rf"\b{key}\b", node.get("block", ""))]
        if node["task"] != "ask" or not named:
            return None
        def perform(name, node):
            try:
                done = session.performers[name].perform(name, node)
            except Waiting as waiting:
                raise with_hint(session, name, node, waiting) from None
            return done._replace(verbs=keeping("", asked_for(session, named))) if done.how == "answered here" else done
        return perform

EXTENSIONS = (
    Signing, Tasks, Shared, Inputs, Secrets, Values, Limits, Expiry, Replies, OfGates, Moving, Contexts,
    Settings, Budget, KeptPrompts, OfPrompts, OfAgents, OfTools, OfParallels, Reports, Artifact, Produced,
    Breaks, MostSteps, ByHand, Logs, Notices, Several,
)  # in the order in which they run


if __name__ == "__main__":
    sys.exit(main(built(program, EXTENSIONS), EXTENSIONS, host=Host(edition="agents fcbc72803004")))
