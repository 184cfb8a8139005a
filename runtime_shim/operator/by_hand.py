"""Runs in which nothing is executed: each command is shown, and a person does it and says what came of it (E4)."""

from typing import Optional

from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State

CALLED = ("shell", "command", "texts", "timeout", "delay", "backoff")  # what matters only where something is called


def as_prompt(node: Table) -> Table:
    """Return a command as a question that shows it."""
    if node["task"] != "shell":
        return node
    kept = {key: value for key, value in node.items() if key not in CALLED}
    return {**kept, "task": "ask", "question": "pass/fail", "block": node["command"]}


class ByHand(Extension):
    """Runs that execute nothing; that belongs to the run."""

    mode = "prompted"
    options = (("run", "--prompted", "", "execute nothing: show each command, and ask what came of it"),)

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether a person could do all of it; a completed step of a specification is never done by hand."""
        return "contract" not in program

    def before_run(self, state: Optional[State]) -> None:
        """Put commands as questions; what agents and tools do is done by hand."""
        session = self.session
        is_prompted = session.options.prompted if state is None else state.begin.get("mode") == self.mode
        if not is_prompted:
            return
        nodes = {name: as_prompt(node) for name, node in session.program["nodes"].items()}
        session.program = {**session.program, "nodes": nodes}
        session.options.tool = []
        for task in {"agent", "parallel"} & {*session.kinds}:
            session.kinds[task] = type("ByHand", (session.kinds[task],), {"command_of": lambda _self, _kind: None})

    def record(self, record: Record) -> Record:
        """Say in the journal that a run executes nothing; programs that do not know such runs refuse its format."""
        is_beginning = record.get("kind") == "begin" and self.session.options.prompted
        return {**record, "mode": self.mode} if is_beginning else record
