# --- Gates: a person lets the run through, or not; one call opens one gate.
class Gates(Questions):
    keys = ("reason",)
    asks = False
    def perform(self, name, node):
        options = self.session.options
        if not options.human:
            return super().perform(name, node)
        options.human = False
        return Done("approved", "answered here", {"flag": "--human"})
    def is_named(self, said, name, _node):
        nodes = self.session.program["nodes"].items()
        steps = {gate: node.get("step", gate.rpartition("/")[0]) for gate, node in nodes if node["task"] == "gate"}
        found = [said] if said in steps else [gate for gate, step in steps.items() if step == said]
        if len(found) > 1:
            raise RefusedError(f"{one_line(said)} has several gates, name one of them: {', '.join(found)}")
        return found == [name]
def approve(session):
    options = session.options
    if not options.gate:
        raise RefusedError("approve needs the gate: --gate ID")
    options.command, options.STEP, options.REPLY = "answer", options.gate, "approved"
    return answer(session)

class OfGates(Extension):
    commands = {"approve": ("let the run through a gate: approve --gate ID", approve)}
    options = (
        ("run resume", "--human", "", "let the run through the first gate that it comes to"),
        ("approve", "--gate", "ID", "the gate that waits (required)"),
    )
    performers = {"gate": Gates}
    @staticmethod
    def suits(program):
        return any(node["task"] == "gate" for node in program["nodes"].values())

