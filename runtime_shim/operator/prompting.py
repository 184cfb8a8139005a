"""Runs in which nothing is executed: each command is shown, and a person does it and says what came of it (E4)."""

from typing import Optional

from runtime_shim.engine.command_line import OPTIONS
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import PERFORMERS, RECORDS, TAKES, Session
from runtime_shim.engine.state import State

CALLED = ("shell", "command", "texts", "timeout", "delay", "backoff")  # what matters only where something is called


def is_prompted(session: Session, state: Optional[State]) -> bool:
    """Tell whether a run executes nothing; that belongs to the run."""
    return bool("mode" in state.begin if state is not None else getattr(session.options, "prompted", False))


def as_prompt(node: Table) -> Table:
    """Return a command as a question that shows it."""
    if node["task"] != "shell":
        return node
    kept = {key: value for key, value in node.items() if key not in CALLED}
    return {**kept, "task": "ask", "question": "pass/fail", "block": node["command"]}


def prompt(session: Session, state: Optional[State]) -> None:
    """Put commands as questions; what agents and tools do is done by hand."""
    if not is_prompted(session, state):
        return
    nodes = {name: as_prompt(node) for name, node in session.program["nodes"].items()}
    session.program = {**session.program, "nodes": nodes}
    session.options.tool = []  # for: tool
    for task in {"agent", "parallel"} & {*PERFORMERS}:  # for: agent parallel
        PERFORMERS[task] = type("ByHand", (PERFORMERS[task],), {"command_of": lambda _self, _kind: None})


def mark(session: Session, record: Record) -> Record:
    """Say in the journal that a run executes nothing; programs that do not know such runs refuse its format."""
    is_beginning = record.get("kind") == "begin" and getattr(session.options, "prompted", False)
    return {**record, "mode": "prompted"} if is_beginning else record


TAKES.append(prompt)
RECORDS.append(mark)
OPTIONS.append(("run", "--prompted", "", "execute nothing: show each command, and ask what came of it"))
