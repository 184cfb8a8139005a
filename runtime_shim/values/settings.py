"""Settings that an operator gives once: the journal keeps them for later calls."""

import os
import re
from typing import Any, Callable

from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Waiting
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import ENDED, State
from runtime_shim.engine.texts import meant, one_line
from runtime_shim.engine.walk import Move
from runtime_shim.values.limits import number_of

UNANSWERED = ("fail", "failed", "invalid", "ambiguous")  # outcomes without a valid answer


READ: dict[str, Callable[[str], Any]] = {
    "agent_calls": lambda given: number_of("--agent-calls", given, 1),
    "max_steps": lambda given: number_of("--max-steps", given, 0),
    "out": os.path.abspath,  # independent of the working directory
}
# Options that hints mention, whose values are not kept.
REMINDED = ("--agent", "--agent-for", "--tool", "--agent-model", "--agent-timeout", "--agent-retries", "--out")


def agreed(state: State) -> Table:
    """Return the settings of a run; the latest count."""
    notes = (note["agreed"] for note in state.notes if note["kind"] == "agreed")
    last = state.finished[-1] if state.finished else state.begin
    return {key: value for part in (last.get("agreed", {}), *notes) for key, value in part.items()}


def settings_in(options: Any, before: Table) -> Table:  # a namespace
    """Return the settings in a call's options; breakpoints add to earlier ones."""
    found = {key: read(given) for key, read in READ.items() if (given := getattr(options, key, None))}
    if breaks := getattr(options, "break"):
        found["breaks"] = [*dict.fromkeys([*before.get("breaks", ()), *breaks])]
    known = {name for _, name, _, _ in options.known}
    if given := [name for name in REMINDED if name in known and getattr(options, name[2:].replace("-", "_"))]:
        found["given"] = given
    return found


class AgentEdition(Extension):
    """A part of programs that call agents or tools, or leave an artifact."""

    needs = ("artifact", "agent", "tool", "parallel")


class Settings(AgentEdition):
    """Keeps the settings."""

    def record(self, record: Record) -> Record:
        """Add the settings to the first record of a run and to each finished step."""
        kind, session = record.get("kind"), self.session
        found = settings_in(session.options, {}) if kind == "begin" else agreed(session.state) if kind == "done" else {}
        return {**record, "agreed": found} if found else record

    def resumed(self) -> None:
        """Record the settings that a resume changes."""
        before = agreed(self.session.state)
        found = settings_in(self.session.options, before)
        if any(before.get(key) != value for key, value in found.items()):
            self.session.record({"kind": "agreed", "agreed": found})

    def hint(self) -> str:
        """Return a reminder of the options in the last call."""
        given = agreed(self.session.state).get("given", ())
        return str(self.session.through("worded", f"   (with {', '.join(given)}, as before)" if given else ""))


class Breakpoints(AgentEdition):
    """Breakpoints: a run waits after a step and its substeps until it is resumed."""

    options = (("run resume", "--break", "STEP...", "wait after this step until `resume`"),)

    def prepare(self) -> None:
        """Refuse a breakpoint that does not exist."""
        program = self.session.program
        doing = [name for name, node in program["nodes"].items() if node["task"] in self.session.kinds]
        for place in getattr(self.session.options, "break"):
            if not any(is_in(program, name, place) for name in doing):
                hint = meant(place, doing) or "; `steps` lists the steps"
                raise UsageError(f"--break {one_line(place)!a}: there is no such step{hint}")

    def record(self, record: Record) -> Record:
        """Make the run wait when it leaves a step with a breakpoint."""
        if record.get("kind") != "done" or record["condition"] in ENDED:
            return record
        places = agreed(self.session.state).get("breaks", ())
        whole, left, entered = self.session.program, record["node"], record["next"]
        is_left = any(is_in(whole, left, place) and not is_in(whole, entered, place) for place in places)
        return {**record, "condition": "waiting", "paused": True} if is_left else record

    def after_step(self, _move: Move) -> None:
        """Wait after the pause is recorded."""
        session = self.session
        if session.options.command in ("run", "resume") and session.state.finished[-1].get("paused"):
            raise Waiting(f"to continue: {session.call('resume')}")


def is_in(program: Table, name: str, place: str) -> bool:
    """Return whether a step is `place` or inside it: `2/elicit` and `2a` are in `2`."""
    steps = program.get("steps", {})
    if name in steps:
        return name == place or place in steps[name]
    return re.fullmatch(rf"{re.escape(place)}([a-z]?(/.*)?|\.[0-9]+.*)", name) is not None


class StepLimit(AgentEdition):
    """The operator's limit of steps; 0 for no limit."""

    options = (("run resume", "--max-steps", "NUMBER", "limit the steps of the whole run; 0 for no limit"),)

    @staticmethod
    def suits(program: Table) -> bool:
        """Return whether the program has a limit that the operator can replace."""
        return "limit" in program and AgentEdition.suits(program)

    def before_run(self, state: "State | None") -> None:
        """Replace the program's limit with the operator's."""
        before = {} if state is None else agreed(state)
        most = {**before, **settings_in(self.session.options, before)}.get("max_steps")
        if most is not None:
            self.session.program = {**self.session.program, "limit": most}

    def again(self, state: State) -> list[tuple[str, str]]:
        """Return the command that continues a run that ended at its limit."""
        limit = state.finished[-1].get("limited", 0) if state.condition == "stop" and state.finished else 0
        return [("to allow more steps", self.session.call("resume", "--max-steps", str(2 * limit)))] if limit else []

    def resumed(self) -> None:
        """Reopen a run that ended at its limit, if this call allows more steps."""
        state, most = self.session.state, self.session.program["limit"]
        limit = state.finished[-1].get("limited") if state.condition == "stop" and state.finished else None
        if limit is not None and (most == 0 or most > limit):
            self.session.record({"kind": "again", "condition": "ready"})
