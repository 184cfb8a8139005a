"""The current step of a run as data, calls that are only for that step, and calls that are only for people."""

import os
from contextlib import suppress
from typing import Any

from runtime_shim.engine.private import refuse_links
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Session
from runtime_shim.engine.state import ENDED, State, Store
from runtime_shim.engine.status import decidable
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import attempt_of
from runtime_shim.operator.logs import folder_of, log_of
from runtime_shim.tasks.ask import Asking

AGENTS = ("CLAUDECODE", "CODEX_THREAD_ID", "AI_AGENT")  # variables that agents set for the commands they run
FOR_A_PERSON = "this is for a person; run it in your own terminal"
OF_PERSONS = ("approve", "goto", "reset")
DECIDING = ("assume", "rerun_interrupted", "adopt", "human", "override", "answers")
OF_AGENTS = ("agent", "parallel")  # tasks that the agent may answer
KINDS = dict.fromkeys(("value", "confirm", "input", "select"), "ask")


def is_by_agent() -> bool:
    """Return whether an agent runs this command. It could hide that."""
    return any(map(os.environ.get, AGENTS))


def at_of(state: State) -> str:
    """Return the place of a run: how many steps have finished, and the current step. A loop never repeats it."""
    return f"{len(state.finished)}:{state.node}"


def log_files(store: Store) -> dict[str, str]:
    """Return the paths of a run's logs by their names, and by their numbers: an adoption may rename a step."""
    folder, names = folder_of(os.path.join(store.folder, os.path.basename(store.path))), list[str]()
    with suppress(OSError, UsageError):
        refuse_links(folder)
        names = os.listdir(folder)
    found = {name: os.path.normpath(os.path.join(folder, name)) for name in names}
    return {**{name.partition("-")[0]: path for name, path in found.items()}, **found}


def log_in(files: dict[str, str], number: int, step: str) -> str:
    """Return the path of the log of the step that ends N-th, or ""."""
    return files.get(log_of(number, step)) or files.get(f"{number:03}", "")


def outputs_of(node: Table) -> list[str]:
    """Return the names of the values that a step hands on. Internal ones have a space."""
    kept = [effect[0] for edge in node.get("edges", ()) for effect in edge.get("do", ()) if effect[1:2] == ["keep"]]
    names = (name for name in kept if " " not in name and not name.startswith("__"))
    return [*dict.fromkeys((*node.get("outputs", ()), *names))]


def current_step(session: Session, state: State, condition: str) -> Table:
    """Return the current step as plain data: who acts, the whole prompt or question, and the replies."""
    name, mask = state.node, session.mask
    node = session.program["nodes"][name]
    performer: Any = session.kinds[node["task"]](session)
    keys = ("prompt", "block", "reason")
    text = "\n\n".join(filter(None, (session.filled(node, key).strip("\n") for key in keys)))
    found: Table = {"by": "person" if isinstance(performer, Asking) else "rdc", "text": text, "entries": []}
    found.update({"replies": performer.replies(node), **performer.facts(name, node)})
    if condition in ("interrupted", "held"):
        words, can_rerun = decidable(state, node)
        found.update(by="person", replies=[*words, *["again"] * can_rerun] if condition == "interrupted" else [])
    is_asked = found["by"] != "rdc"
    persons = {step for rule in session.program.get("rules", {}).values() for step in rule.get("persons", ())}
    return {
        "step": name,
        "title": mask(session.filled(node, "title")),
        "kind": KINDS.get(node["task"], node["task"]),
        "by": found["by"],
        "text": mask(found["text"]),
        "command": mask(session.filled(node, "command")),
        "replies": found["replies"] if is_asked else [],
        "asks": node.get("asks"),
        "form": found["by"] == "person" and condition != "held" and "items" not in node and name not in persons,
        "outputs": outputs_of(node),
        "attempt": attempt_of(node, state.registers),
        "entries": [{**entry, "text": mask(entry["text"])} for entry in found["entries"]],
    }


class CurrentStep(Extension):
    """Shows the current step, and refuses a call for another step or one that is for a person."""

    options = (("step answer approve", "--at", "N:STEP", "only if the run is at this place of its status"),)

    def prepare(self) -> None:
        """Refuse decisions by an agent, and ask it nothing at a terminal."""
        if not is_by_agent():
            return
        self.session.display.is_terminal = False
        options = vars(self.session.options)
        decides = options["command"] in OF_PERSONS or any(map(options.get, DECIDING))
        if decides and not options.get("dry_run"):
            raise UsageError(FOR_A_PERSON)

    def read(self, state: State) -> None:
        """Refuse a call for another place, and an agent's answer to a person's step."""
        session, options, at = self.session, self.session.options, at_of(state)
        node = session.program["nodes"].get(state.node, {"task": ""})
        if options.at not in (None, at):
            now = {**session.program["registers"], **state.registers}
            place = f"at {at} {session.filled(node, 'title', now)}"
            over = f"over: {state.condition.upper()} {state.message}"
            where = over if state.condition in ENDED else place
            raise UsageError(one_line(f"{options.at} is not the current step; the run is {where}"))
        is_due = options.command == "answer" and state.condition in ("waiting", "running")
        if is_due and is_by_agent() and node["task"] not in OF_AGENTS:
            raise UsageError(FOR_A_PERSON)

    def before_step(self, _name: str) -> None:
        """Keep `--agent` from questions if an agent gives it, except in a mock run."""
        options = self.session.options
        options.is_reserved = is_by_agent() and not getattr(options, "mock", None)

    def written(self, _record: Table) -> None:
        """Let this call continue past its step."""
        self.session.options.at = None

    def described(self, state: "State | None", facts: Table) -> Table:
        """Add the current step, the place of the run, and the paths of logs to the status."""
        if state is None or not self.session.options.json:
            return {**facts, "current": None, "at": ""}
        session, condition, files = self.session, facts["state"], log_files(self.session.store)
        session.state, current = state, None
        if facts["same_program"] and condition not in (*ENDED, "expired"):
            log = log_in(files, len(state.finished) + 1, state.node)
            current = {**current_step(session, state, condition), "log": log}
        finished = [{**one, "log": log_in(files, at, one["step"])} for at, one in enumerate(facts["finished"], 1)]
        return {**facts, "current": current, "at": at_of(state), "finished": finished}
