"""Gates: a person lets the run through, or not (I15); one call opens one gate (W13)."""

from typing import Optional

from runtime_shim.engine.lifecycle import Done, Extension, Perform
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.texts import one_line
from runtime_shim.tasks.ask import Asking, answer

DECIDED = ("approved", "rejected")


def gates_named(nodes: Table, said: str) -> list[str]:
    """Return the gate that is named by itself or by its step; refuses a step with several gates."""
    steps = {name: node.get("step", name.rpartition("/")[0]) for name, node in nodes.items() if node["task"] == "gate"}
    found = [said] if said in steps else [name for name, step in steps.items() if said and step == said]
    if len(found) > 1:
        raise RefusedError(f"{one_line(said)} has several gates, name one of them: {', '.join(found)}")
    return found


class Gates(Asking):
    """Waits at gates. A line of a file of answers that names no step opens none."""

    keys = ("reason",)
    asks = False

    def ask_here(self, name: str, _node: Table) -> Optional[Done]:
        """Ask for the decision."""
        choice = self.session.ask(f"{self.session.label(name)}: let the run through?", "/".join(DECIDED))
        return None if choice is None else Done(choice, "decided here")

    def preview(self, name: str, _node: Table) -> Done:
        """Take the decision of the file, or else let it through."""
        return self.from_file(name) or Done(DECIDED[0], "assumed")

    def is_named(self, said: str, name: str, _node: Table) -> bool:
        """Tell whether a word names this gate: its own name, or that of a step which has no other gate."""
        return gates_named(self.session.program["nodes"], said) == [name]

    def given(self, _name: str, reply: str, how: str) -> Done:
        """Read approved or rejected."""
        if reply.strip().lower() not in DECIDED:
            raise RefusedError(f"{one_line(reply)}: expected approved or rejected")
        return Done(reply.strip().lower(), how)

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return the two decisions."""
        return list(DECIDED)


def opened_by_flag(_name: str, _node: Table) -> Done:
    """Return the decision of whoever has made this call."""
    return Done(DECIDED[0], "answered here", {"flag": "--human"})


def approve(session: Session) -> int:
    """Let a run through the gate that is named."""
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
    """Programs with gates."""

    commands = {"approve": ("let the run through a gate", approve)}
    options = (
        ("run resume", "--human", "", "let the run through the first gate that it comes to"),
        ("approve", "--gate", "ID", "the gate that waits"),
        ("approve", "--events", "FILE", "append what happens, as JSON lines"),
    )
    performers = {"gate": Gates}

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has gates."""
        return any(node["task"] == "gate" for node in program["nodes"].values())

    def before_step(self, name: str) -> Optional[Perform]:
        """Open the first gate that a run comes to in this call, if the call says so, and no further one."""
        session = self.session
        if session.program["nodes"][name]["task"] != "gate" or not session.options.human:
            return None
        session.options.human = False
        return opened_by_flag
