"""Gates that one call lets a run through: `--human` opens the first one, and `approve` the one that waits (W13)."""

from collections.abc import Sequence
from typing import Optional

from runtime_shim.engine.command_line import ASKS, COMMANDS, OPTIONS
from runtime_shim.engine.late import load
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import BEFORE, Done, Perform, Session
from runtime_shim.tasks.gate import DECIDED, gates_named
from runtime_shim.tasks.waiting import answer

SIGNING_OPTIONS = ("--by", "--note")  # options of the subcommand `answer`


def let_through(session: Session, name: str) -> Optional[Perform]:
    """Open the first gate that a run comes to in this call, and no further one."""
    if session.program["nodes"][name]["task"] != "gate" or not session.options.human:
        return None
    session.options.human = False
    load()  # who lets it through is recorded
    return opened_by_flag


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


def prepare_approval(words: Sequence[str]) -> None:
    """Let `approve` have what `answer` has."""
    if words[:1] == ["approve"]:
        load()
        OPTIONS.extend(("approve", *option[1:]) for option in list(OPTIONS) if option[1] in SIGNING_OPTIONS)


ASKS.append(prepare_approval)
BEFORE.append(let_through)
COMMANDS["approve"] = ("let the run through a gate", approve)
OPTIONS += [
    ("run resume", "--human", "", "let the run through the first gate that it comes to"),
    ("approve", "--gate", "ID", "the gate that waits"),
    ("approve", "--state-dir", "DIR", "where the state is kept"),
    ("approve", "--events", "FILE", "append what happens, as JSON lines"),
]
