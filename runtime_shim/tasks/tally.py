"""How often agents and tools are called in a run, over all resumes, and how many calls of agents it may make."""

import collections
from typing import Optional

from runtime_shim.data.agreed import OfMore, agreed, number_of
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import Move

AGENT_CALL = "agent "  # begins what is counted of an agent: with the name of its step or entry
REMINDED = (
    *("--agent", "--agent-for", "--tool", "--agent-model", "--agent-timeout", "--agent-retries"),
    *("--mock", "--out"),
)


def calls_of(notes: list[Record]) -> "collections.Counter[str]":
    """Return the calls of the step at which a run stands."""
    return collections.Counter(note["call"] for note in notes if note["kind"] == "call")


def tally(state: State) -> "collections.Counter[str]":
    """Return all calls of a run."""
    found = calls_of(state.notes)
    for record in state.finished:
        found.update(record.get("calls", {}))
    return found


def agents_in(calls: Table) -> int:
    """Return how many of them were calls of agents."""
    return sum(number for name, number in calls.items() if name.startswith(AGENT_CALL))


def spent(name: str, budget: int) -> str:
    """Say that there is no call left for a step."""
    return f"{name}: the budget of {budget} calls of agents is spent; `resume --agent-calls NUMBER` goes on"


class Budget(OfMore):
    """Counts calls, and ends a run by STOP where it would make more than it may."""

    options = (("run resume", "--agent-calls", "NUMBER", "how many calls of agents the whole run may make"),)

    def record(self, record: Record) -> Record:
        """Write into the record of a step what it has called."""
        calls = calls_of(self.session.state.notes) if record.get("kind") == "done" else {}
        return {**record, "calls": dict(calls)} if calls else record

    def stand(self, move: Move, before: Optional[State], stand: Record) -> Record:
        """Return what a run does that may make no further call."""
        budget = agreed(before).get("agent_calls") if before is not None else None
        node = self.session.program["nodes"][move.node]
        due = len(node["entries"]) if node["task"] == "parallel" else node["task"] == "agent"
        if before is None or budget is None or not due or agents_in(tally(before)) + due <= budget:
            return stand
        message = self.session.through("worded", spent(move.node, budget))
        return {"condition": "stop", "message": message, "spent": True}

    def resumed(self) -> None:
        """Take up a run that has ended because its budget was spent, if it was given a larger one."""
        state = self.session.state
        is_spent = state.condition == "stop" and state.finished and state.finished[-1].get("spent")
        if is_spent and agents_in(tally(state)) < agreed(state)["agent_calls"]:
            self.session.record({"kind": "again", "condition": "ready"})

    def agrees(self, _before: Table) -> Table:
        """Return how many calls of agents the operator allows."""
        given = self.session.options.agent_calls
        return {"agent_calls": number_of("--agent-calls", given, 1) if given else None}


class Reminder(OfMore):
    """Which options a run was given: whoever answers by hand is reminded of them, and their values are kept nowhere."""

    def agrees(self, _before: Table) -> Table:
        """Return the options of this call that a later one has to repeat."""
        options = self.session.options
        known = {name for _, name, _, _ in options.known}
        found = [name for name in REMINDED if name in known and getattr(options, name[2:].replace("-", "_"))]
        return {"given": found or None}

    def hint(self) -> str:
        """Name the options that the run was given last."""
        given = agreed(self.session.state).get("given", ())
        hint = f"   (with {', '.join(given)}, as before)" if given else ""
        return str(self.session.through("worded", hint))
