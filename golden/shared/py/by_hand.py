# --- Runs in which nothing is executed: each command is shown, and a person does it and says what came of it (E4).
CALLED = ("shell", "command", "texts", "timeout", "delay", "backoff")  # what matters only where something is called

def as_prompt(node):
    if node["task"] != "shell":
        return node
    kept = {key: value for key, value in node.items() if key not in CALLED}
    return {**kept, "task": "ask", "question": "pass/fail", "block": node["command"]}

class ByHand(Extension):
    mode = "prompted"
    options = (("run", "--prompted", "", "execute nothing: show each command, and ask what came of it"),)
    @staticmethod
    def suits(program):
        return "contract" not in program
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

