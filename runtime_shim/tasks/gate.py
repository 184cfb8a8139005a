"""Gates: a person approves or rejects (I15); one call opens one gate (W13)."""

from runtime_shim.engine.lifecycle import Done, Extension
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.texts import one_line
from runtime_shim.tasks.ask import answer
from runtime_shim.tasks.replies import Questions


class Gates(Questions):
    """Runs gates. An answer that names no step opens none."""

    keys = ("reason",)
    asks = False

    def perform(self, name: str, node: Table) -> Done:
        """Get the decision. `--human` approves only the first gate of a call."""
        options = self.session.options
        if not options.human:
            return super().perform(name, node)
        options.human = False
        return Done("approved", "answered here", {"flag": "--human"})

    def is_named(self, said: str, name: str, _node: Table) -> bool:
        """Return whether a word names this gate: its name, or that of a step with only this gate."""
        nodes = self.session.program["nodes"].items()
        steps = {gate: node.get("step", gate.rpartition("/")[0]) for gate, node in nodes if node["task"] == "gate"}
        found = [said] if said in steps else [gate for gate, step in steps.items() if step == said]
        if len(found) > 1:
            raise RefusedError(f"{one_line(said)} has several gates; name one: {', '.join(found)}")
        return found == [name]


def approve(session: Session) -> int:
    """Approve the named gate."""
    options = session.options
    if not options.gate:
        raise RefusedError("approve needs --gate ID")
    options.command, options.STEP, options.REPLY = "answer", options.gate, "approved"
    return answer(session)


class OfGates(Extension):
    """Programs with gates."""

    commands = {"approve": ("approve a gate: approve --gate ID", approve)}
    options = (
        ("run resume", "--human", "", "approve the first gate that the run reaches"),
        ("approve", "--gate", "ID", "the waiting gate (required)"),
    )
    performers = {"gate": Gates}

    @staticmethod
    def suits(program: Table) -> bool:
        """Return whether the program has gates."""
        return any(node["task"] == "gate" for node in program["nodes"].values())
