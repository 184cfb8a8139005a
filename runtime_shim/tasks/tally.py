"""How often agents and tools are called in a run, over all resumes, and how many calls of agents it may make."""

import collections
import types
from typing import Any, Optional

from runtime_shim.data.agreed import AGREES, agreed
from runtime_shim.data.durations import number_of
from runtime_shim.engine.command_line import OPTIONS
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import EVENTS, RECORDS, STANDS, Session
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import Move

AGENT = "agent "  # begins what is counted of an agent: with the name of its step or entry


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
    return sum(number for name, number in calls.items() if name.startswith(AGENT))


def counted(session: Session, record: Record) -> Record:
    """Write into the record of a step what it has called."""
    calls = calls_of(session.state.notes) if record.get("kind") == "done" else {}
    return {**record, "calls": dict(calls)} if calls else record


def spent(name: str, budget: int) -> str:
    """Say that there is no call left for a step."""
    return f"{name}: the budget of {budget} calls of agents is spent; `resume --agent-calls NUMBER` goes on"


def within_budget(program: Table, move: Move, before: Optional[State], stand: Record) -> Record:
    """End a run by STOP where it would make more calls than it may."""
    budget = agreed(before).get("agent_calls") if before is not None else None
    node = program["nodes"][move.node]
    due = len(node["entries"]) if node["task"] == "parallel" else node["task"] == "agent"
    if before is None or budget is None or not due or agents_in(tally(before)) + due <= budget:
        return stand
    return {"condition": "stop", "message": spent(move.node, budget), "spent": True}


def go_on(session: Session, event: str, fields: Record) -> None:
    """Take up a run that has ended because its budget was spent, if it was given a larger one."""
    state = session.state
    if event != "run_started" or not fields["resumed"] or state.condition != "stop":
        return
    is_spent = state.finished and state.finished[-1].get("spent")
    if is_spent and agents_in(tally(state)) < agreed(state)["agent_calls"]:
        session.record({"kind": "again", "condition": "ready"})


def budget_of(options: types.SimpleNamespace, _before: Any) -> Any:  # noqa: ANN401 (a number, or nothing)
    """Return how many calls of agents the operator allows."""
    given = getattr(options, "agent_calls", None)
    return number_of("--agent-calls", given, 1) if given else None


RECORDS.append(counted)
STANDS.append(within_budget)
EVENTS.append(go_on)
AGREES["agent_calls"] = budget_of
OPTIONS.append(("run resume", "--agent-calls", "NUMBER", "how many calls of agents the whole run may make"))
