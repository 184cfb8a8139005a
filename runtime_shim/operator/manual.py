"""Runs in which a person replaces commands, agents and tools."""

import re

from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Done, Waiting
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Session
from runtime_shim.engine.state import State
from runtime_shim.io.terminal import asked
from runtime_shim.values.slots import Perform, keeping, unfit_variable

CALLED = ("shell", "command", "texts", "timeout", "delay", "backoff")  # settings of calls


def as_prompt(node: Table) -> Table:
    """Return a command's step as a question that shows the command."""
    if node["task"] != "shell":
        return node
    kept = {key: value for key, value in node.items() if key not in CALLED}
    return {**kept, "task": "ask", "question": "pass/fail", "block": node["command"]}


def asked_for(session: Session, keys: list[str]) -> dict[str, str]:
    """Return the outputs that a person types. An empty line means that the command gave none."""

    def read(value: str) -> str:
        if problem := unfit_variable(value):
            raise UsageError(f"it {problem}")
        return value

    found = {key: asked(session, f"{key} (leave empty if there is none): ", read) for key in keys}
    return {key: value for key, value in found.items() if value}


def with_hint(session: Session, name: str, node: Table, waiting: Waiting) -> Waiting:
    """Add to the hints for a later answer how to give the command's outputs."""
    written = [key for key in node["outputs"] if re.search(rf"(?<![\w-]){re.escape(key)}(=|<<)", node["block"])]
    if not written:
        return waiting
    values = [word for key in written for word in ("--value", f"{key}=…")]
    first, *others = waiting.args
    return Waiting(first, f"with outputs: {session.call('answer', name, 'pass', *values)}", *others)


class ManualRun(Extension):
    """Runs that execute nothing, recorded as such."""

    mode = "prompted"
    options = (("run", "--prompted", "", "run nothing: show each command and ask for its outcome"),)

    def before_run(self, state: "State | None") -> None:
        """Turn commands, agents and tools into questions."""
        session = self.session
        if not (session.options.prompted if state is None else state.begin.get("mode") == self.mode):
            return
        nodes = {name: as_prompt(node) for name, node in session.program["nodes"].items()}
        session.program = {**session.program, "nodes": nodes}
        session.options.tool = []
        for task in {"agent", "parallel"} & {*session.kinds}:
            session.kinds[task] = type("ManualRun", (session.kinds[task],), {"command_of": lambda _self, _kind: None})

    def record(self, record: Record) -> Record:
        """Record in the journal that a run executes nothing; programs without this mode refuse it."""
        is_beginning = record.get("kind") == "begin" and self.session.options.prompted
        return {**record, "mode": self.mode} if is_beginning else record

    def before_step(self, name: str) -> "Perform | None":
        """Ask for a command's outputs after its outcome was given at the terminal."""
        session, node = self.session, self.session.program["nodes"][name]
        named = [key for key in node.get("outputs", ()) if re.search(rf"\b{key}\b", node.get("block", ""))]
        if node["task"] != "ask" or not named:
            return None

        def perform(name: str, node: Table) -> Done:
            try:
                done = session.performers[name].perform(name, node)
            except Waiting as waiting:
                raise with_hint(session, name, node, waiting) from None
            return done._replace(verbs=keeping("", asked_for(session, named))) if done.how == "answered here" else done

        return perform
