"""Steps one by one, for targets that call a program for each (B4), and runs that go on after a failure (B16)."""

from collections.abc import Sequence
from typing import Optional

from runtime_shim.contract.run_records import RESUMED
from runtime_shim.contract.run_steps import BLOCKED, COMPLETED, FAILED, PENDING, RUNNING
from runtime_shim.engine.command_line import ASKS, COMMANDS, OPTIONS, Subcommands
from runtime_shim.engine.display import one_line
from runtime_shim.engine.journal import Record
from runtime_shim.engine.late import load
from runtime_shim.engine.program import EXIT_COMPLETE, RefusedError, Table, differences
from runtime_shim.engine.session import ENDS, EVENTS, HALTS, OPENS, RECORDS, STANDS, Session
from runtime_shim.engine.state import State
from runtime_shim.engine.status import FACTS, TAILS
from runtime_shim.engine.walk import Move, follow

ONLY: list[str] = []  # the step that this call does alone, "" where it does none
LIKE = {"open": "run", "step": "resume"}  # the subcommand whose options another one has


def steps_of(program: Table) -> list[str]:
    """Return the steps in order."""
    return list(program["contract"]["steps"])


def step_at(program: Table, state: State) -> Optional[str]:
    """Return the step at which a run stands or has failed; None if it is complete, or this program has no such step."""
    if state.condition == "complete":
        return None
    last = [record["node"] for record in state.finished[-1:]] if state.condition == "stop" else []
    for name in (state.node, *last):
        step: Optional[str] = program["nodes"].get(name, {}).get("step")
        if step is not None:
            return step
    return None


def statuses(program: Table, state: State) -> dict[str, str]:
    """Return the status of each step (B6)."""
    steps, at = steps_of(program), step_at(program, state)
    here = status_at(program, state)
    before = steps if state.condition == "complete" else steps[: steps.index(at)] if at in steps else ()
    found = {step: COMPLETED if step in before else PENDING for step in steps}
    return {**found, **({at: here} if at in steps else {})}


def status_at(program: Table, state: State) -> str:
    """Return the status of the step at which a run stands."""
    last = state.finished[-1] if state.finished else {**state.begin, "node": "", "outcome": ""}
    task = program["nodes"].get(state.node, {}).get("task")
    if state.condition == "stop" or (state.condition == "ready" and last["outcome"] == RESUMED):
        return FAILED
    if task == "gate":
        return BLOCKED
    if state.condition != "ready" or last["condition"] != "ready":
        return RUNNING
    before = program["nodes"].get(last["node"], {})
    if before.get("step") != program["nodes"][state.node].get("step"):
        return PENDING
    return BLOCKED if before["task"] == "gate" else RUNNING


def open_run(session: Subcommands) -> int:
    """Begin a run, and do nothing of it."""
    ONLY[:], session.options.command = [""], LIKE["open"]
    return session.run()


def step(session: Subcommands) -> int:
    """Go on with a run through one step."""
    name, program = session.options.STEP, session.program
    state = session.read()
    if name not in steps_of(program):
        raise RefusedError(f"there is no step {one_line(name)!a}; there are {', '.join(steps_of(program))}")
    if state is not None and statuses(program, state)[name] == COMPLETED:
        session.display.rule(f"step {name} is completed")
        return EXIT_COMPLETE
    due = step_at(program, state) if state is not None else None
    if due != name:
        raise RefusedError(f"step {name} is not due: the run stands at step {due}")
    ONLY[:], session.options.command = [name], LIKE["step"]
    return session.resume()


def halt(session: Session) -> str:
    """Say that a call ends where its one step does."""
    if not ONLY or session.program["nodes"][session.state.node].get("step") == ONLY[0]:
        return ""
    return f"step {ONLY[0]} is completed" if ONLY[0] else f"run {session.state.begin['run']} is open"


def not_begun(program: Table, move: Move, _before: Optional[State], stand: Record) -> Record:
    """Leave the step that follows for another call."""
    is_other = ONLY and program["nodes"][move.node].get("step") != ONLY[0]
    if is_other and stand["condition"] == "running":
        return {**stand, "condition": "ready"}
    return stand


def reopen(session: Session, event: str, _fields: Record) -> None:
    """Take a failed run back to the step that failed, with all its attempts (B12), or to the gate that was rejected."""
    state, program = session.state, session.program
    if event != "run_started" or state.condition != "stop":
        return
    is_same = session.is_same(state)
    if not is_same and not session.options.adopt:
        how = f"to resume with this version all the same: {session.call('resume', '--adopt')}"
        found = differences(state.nodes, session.identity()["nodes"])
        raise RefusedError(*found, how, "this run belongs to a different version of this program")
    target = _target(program, state)
    node = program["nodes"][target]
    do = [[node["attempt"], "=", 0]] if "attempt" in node else []
    move = follow(program, {"go": target, "do": do}, state.registers)
    stand = session._stand(move, begins=False)  # noqa: SLF001 (it has not begun)
    about = {"node": state.node, "title": "", "attempt": 1, "instances": {}, "outcome": RESUMED, "seconds": 0.0}
    about.update(how="resumed", says="", next=target)
    session.record({"kind": "done", **about, "changed": move.changed, **stand})
    if not is_same:
        session.adopt()


def note_resumed(session: Session, event: str, fields: Record) -> None:
    """Note whether this call resumes a run; a `step` that follows the one before it does not (B15)."""
    if event == "run_started":
        nodes, last = session.program["nodes"], session.state.finished[-1:]
        session.options.resumes = fields["resumed"] and (
            not ONLY or any(is_stage_of(nodes.get(one["node"], {"task": ""}), ONLY[0]) for one in last)
        )


def mark_resumed(session: Session, record: Record) -> Record:
    """Mark the first record of a call that resumes a run: in the same call, pauses end with a like one."""
    if record.get("kind") not in ("resume", "done") or not getattr(session.options, "resumes", False):
        return record
    session.options.resumes = False
    return {**record, "resumes": True}


def _target(program: Table, state: State) -> str:
    """Return where a failed run goes on."""
    nodes, last, step = program["nodes"], state.finished[-1], step_at(program, state)
    due = (*undecided(program, state, step), *(name for name in nodes if is_stage_of(nodes[name], step)))
    first = last["node"] if last["outcome"] == "rejected" else next(iter(due), "")
    if first not in nodes:
        raise RefusedError(f"this program does not have {one_line(last['node'])}, which failed: begin a new run")
    return first


def is_stage_of(node: Table, step: Optional[str]) -> bool:
    """Tell whether a node is a stage of a step."""
    return bool(node["task"] == "stage" and node["step"] == step)


def undecided(program: Table, state: State, step: Optional[str]) -> list[str]:
    """Return the gates of a step that the run was not let through."""
    approved = {record["node"] for record in state.finished if record["outcome"] == "approved"}
    nodes = program["nodes"].items()
    return [name for name, node in nodes if node["task"] == "gate" and node["step"] == step and name not in approved]


def refuse_skipped(session: Session) -> None:
    """Refuse to go on with a version that has steps or gates before the place of the run which it never came to."""
    state, program = session.state, session.program
    if session.options.command != "resume" or not session.options.adopt or session.is_same(state):
        return
    done, at = {record["node"] for record in state.finished}, step_at(program, state)
    steps = steps_of(program)
    before = steps[: steps.index(at)] if at in steps else []
    skipped = [name for step in before for name in (*undecided(program, state, step), *([step][step in done :]))]
    if state.condition != "stop" and is_stage_of(program["nodes"].get(state.node, {"task": ""}), at):
        skipped += undecided(program, state, at)
    if skipped:
        raise RefusedError(
            f"this version has {one_line(skipped[0])} before {at}, and the run was not there: begin anew"
        )


def steps_told(program: Table, state: State) -> Table:
    """Return the steps for the status."""
    return {"steps": [{"step_id": name, "status": status} for name, status in statuses(program, state).items()]}


def prepare_steps(words: Sequence[str]) -> None:
    """Let `open` and `step` have what `run` and `resume` have."""
    like = LIKE.get(words[0]) if words else None
    if like:
        load()
        own = [option[1] for option in OPTIONS if words[0] in option[0].split()]
        more = [option for option in OPTIONS if like in option[0].split() and option[1] not in own]
        OPTIONS.extend((words[0], *option[1:]) for option in more)


def status_of_steps(_session: Session, facts: Table, record: Optional[Table]) -> list[str]:
    """Return the steps as lines that stand above their stages."""
    told = facts["steps"] if record is None else ()
    lines = [f"{one['status']:9}  {one_line(one['step_id'])}" for one in told]
    return [*(f"  {line}" for line in lines), *([""] if lines else [])]


def tell_next(session: Session) -> None:
    """Say how a run goes on that has failed."""
    if session.state.condition == "stop":
        is_rejected = session.state.finished[-1]["outcome"] == "rejected"
        what = "ask for this approval" if is_rejected else "try"
        session.display.rule(f"to {what} again: {session.call('resume')}")


ENDS.append(tell_next)
ASKS.append(prepare_steps)
TAILS.append(status_of_steps)
STANDS.append(not_begun)
HALTS.append(halt)
OPENS.append(refuse_skipped)
EVENTS.extend((reopen, note_resumed))
RECORDS.append(mark_resumed)
FACTS.append(steps_told)
COMMANDS.pop("goto", None)  # a completed step is never done again (B16)
COMMANDS["open"] = ("begin a run, and do nothing of it", open_run)
COMMANDS["step"] = ("go on with a run through one step", step)
OPTIONS.append(("step", "STEP", "", "the step that is due"))
