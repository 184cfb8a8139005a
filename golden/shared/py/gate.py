# --- Gates: a person lets the run through, or not (I15); one call opens one gate (W13).
DECIDED = ("approved", "rejected")

def gates_named(nodes, said):
    steps = {name: node.get("step", name.rpartition("/")[0]) for name, node in nodes.items() if node["task"] == "gate"}
    found = [said] if said in steps else [name for name, step in steps.items() if said and step == said]
    if len(found) > 1:
        raise RefusedError(f"{one_line(said)} has several gates, name one of them: {', '.join(found)}")
    return found

class Gates(Asking):
    keys = ("reason",)
    asks = False
    def perform(self, name, node):
        session = self.session
        for line in session.texts(node, "reason"):
            session.display.line(line)
        session.heed()
        done = self.from_file(name)
        if done is not None:
            return done
        choice = None
        if session.is_interactive:
            choice = session.ask(f"{session.label(name)}: let the run through?", "/".join(DECIDED))
        if choice is None:
            raise self.wait(name, node)
        return Done(choice, "decided here")
    def preview(self, name, _node):
        return self.from_file(name) or Done(DECIDED[0], "assumed")
    def is_named(self, said, name, _node):
        return gates_named(self.session.program["nodes"], said) == [name]
    def given(self, _name, reply, how):
        if reply.strip().lower() not in DECIDED:
            raise RefusedError(f"{one_line(reply)}: expected approved or rejected")
        return Done(reply.strip().lower(), how)
    @staticmethod
    def replies(_node):
        return list(DECIDED)

def opened_by_flag(_name, _node):
    return Done(DECIDED[0], "answered here", {"flag": "--human"})

def approve(session):
    options, nodes = session.options, session.program["nodes"]
    if not options.gate:
        raise RefusedError("approve needs the gate: --gate ID")
    gates = gates_named(nodes, options.gate)
    if not gates:
        known = ", ".join(name for name, node in nodes.items() if node["task"] == "gate")
        raise RefusedError(f"{options.gate} is not a gate; there are {known}")
    options.command, options.STEP, options.REPLY = "answer", gates[0], DECIDED[0]
    return answer(session)

class OfGates(Extension):
    commands = {"approve": ("let the run through a gate", approve)}
    options = (
        ("run resume", "--human", "", "let the run through the first gate that it comes to"),
        ("approve", "--gate", "ID", "the gate that waits"),
        ("approve", "--state-dir", "DIR", "where the state is kept"),
        ("approve", "--events", "FILE", "append what happens, as JSON lines"),
    )
    performers = {"gate": Gates}
    @staticmethod
    def suits(program):
        return any(node["task"] == "gate" for node in program["nodes"].values())
    def before_step(self, name):
        session = self.session
        if session.program["nodes"][name]["task"] != "gate" or not session.options.human:
            return None
        session.options.human = False
        return opened_by_flag

