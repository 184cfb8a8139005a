"""Limits of a run's steps and of its waiting, and pauses before further attempts."""

import re
import time
from contextlib import suppress
from typing import Any

from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Session
from runtime_shim.engine.state import MOVES, State
from runtime_shim.engine.times import moment
from runtime_shim.engine.walk import Move, Registers, advance, attempt_of, follow

LONGEST_PAUSE = 10**8  # seconds; avoids overflow
TIME_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
LONGEST_TIME = MOST_VISITS = 10**9  # in seconds; for unlimited visits


def seconds_of(option: str, given: str) -> int:
    """Return the seconds of a time; `option` is for the error message."""
    found = re.fullmatch(r"([0-9]{1,9})([smhd]?)", given)
    seconds = int(found[1]) * TIME_UNITS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST_TIME:
        raise UsageError(f"{option} {given!a}: expected a time such as 90s, 30m, 24h or 7d")
    return seconds


def number_of(option: str, given: str, least: int) -> int:
    """Return the number given to an option."""
    if not re.fullmatch("[0-9]{1,9}", given) or int(given) < least:
        raise UsageError(f"{option} {given!a}: expected a number, at least {least}")
    return int(given)


def pause_of(node: Table, registers: Registers) -> int:
    """Return how many seconds to wait before the next attempt at a step."""
    further = attempt_of(node, registers) - 2
    if further < 0 or "delay" not in node:
        return 0
    return int(min(node["delay"] * node.get("backoff", 1) ** min(further, 64), LONGEST_PAUSE))


class Limits(Extension):
    """Stops a run at its limit, and waits before further attempts at a step."""

    def condition_after(self, move: Move, before: "State | None", after: Record) -> Record:
        """Stop the run at its limit, or set a pause before the step."""
        nodes, limit = self.session.program["nodes"], self.session.program.get("limit")
        if before is not None and limit:
            done = [*(record["node"] for record in before.finished if record["outcome"] not in MOVES), before.node]
            is_gate = [nodes.get(name, {}).get("task") == "gate" for name in (move.node, *done)]  # gates don't count
            if not is_gate[0] and is_gate.count(False) > limit:
                message = f"{move.node}: the limit of {limit} steps was reached"
                return {"condition": "stop", "message": message, "limited": limit}
        seconds = pause_of(nodes[move.node], move.registers)
        if not seconds:
            return after
        condition = "ready" if after["condition"] == "running" else after["condition"]
        return {**after, "condition": condition, "due": time.time() + seconds}

    def before_step(self, name: str) -> None:
        """Wait for the rest of a pause. After an interruption, a resume waits for the rest."""
        session = self.session
        due = session.state.finished[-1].get("due", 0.0) if session.state.finished else 0.0
        whole = pause_of(session.program["nodes"][name], session.state.registers)
        left = min(due - time.time(), whole)  # the clock may have been set back
        if left > 0 and session.state.condition in ("ready", "waiting"):
            session.display.line(f"    waiting {duration(left)} before this attempt")
            with session.signals:
                time.sleep(left)


class Expiry(Extension):
    """Fails a question and rejects a gate that waits longer than the operator allows; ends the run at other steps.

    The next call decides. One that only looks changes nothing.
    """

    # These may wait for a person.
    needs = ("ask", "value", "gate", "confirm", "input", "select", "agent", "tool", "parallel", "stage")
    options = (("run", "--expire", "TIME", "fail a question that waits longer than this, such as 24h"),)
    _due: "Record | None" = None  # the outcome that this call has to record

    def record(self, record: Record) -> Record:
        """Add the limit to the first record of a run, and record an expiry before anything else."""
        self.resumed()
        given = record.get("kind") == "begin" and self.session.options.expire
        return {**record, "expire": seconds_of("--expire", given)} if given else record

    def waits(self) -> None:
        """Record when a run started to wait, unless a terminal has asked until it expired."""
        state, program, now = self.session.state, self.session.program, time.time()
        is_new = longest_wait(program, state) and all(note["kind"] != "waits" for note in state.notes)
        if is_new and now < expires_at(program, state):
            self.session.record({"kind": "waits", "since": now})

    def read(self, state: State) -> None:
        """Give a step that has waited too long its outcome."""
        session, program, self._due = self.session, self.session.program, None
        if state.condition != "waiting" or time.time() < expires_at(program, state) or not session.is_same(state):
            return
        longest, name, task = duration(longest_wait(program, state)), state.node, program["nodes"][state.node]["task"]
        if task not in ("ask", "value", "gate"):
            state.condition, state.message = "stop", f"expired: the run waited longer than {longest}"
            state.notes.append({"kind": "expired"})
            return
        session.state, outcome = state, "rejected" if task == "gate" else "fail"
        move = advance(program, name, state.registers, outcome)
        about = {**session.moved(name, move, outcome, f"expired after {longest}"), "by": "rdc"}
        self._due = session.through("record", {**about, **session.condition_after(move, state, begins=False)})
        state.apply(self._due)

    def before_run(self, state: "State | None") -> None:
        """Record the outcome in the journal of the run that ended, if another run starts."""
        if self._due and not state:
            self.session.store.open()
            self.session.store.append(self._due)
            self._due = None

    def is_due(self) -> bool:
        """Return whether an outcome is not recorded."""
        return self._due is not None

    def resumed(self) -> None:
        """Record the outcome of the step that has expired."""
        due, self._due = self._due, None
        if due:
            self.session.store.append(due)
            self.session.each("written", due)

    def facts(self, state: State) -> Table:
        """Return the status of an expired run."""
        return {"state": "expired", "expired": True} if any(one["kind"] == "expired" for one in state.notes) else {}


def longest_wait(program: Table, state: State) -> float:
    """Return how many seconds the step of a run may wait for a person: the operator's limit, its own, or 0."""
    return float(state.begin.get("expire") or program["nodes"].get(state.node, {}).get("expire", 0))


def expires_at(program: Table, state: State) -> float:
    """Return when a waiting step expires, in seconds; infinity without a limit."""
    since, longest = [note["since"] for note in state.notes if note["kind"] == "waits"], longest_wait(program, state)
    with suppress(ValueError):  # records of older versions have no time
        if longest and not since:  # no call has left the run since its last move
            since = [
                max(moment(state.since).timestamp(), state.finished[-1].get("due", 0.0) if state.finished else 0.0)
            ]
    return float(since[0] + longest) if since and longest else float("inf")


def reached(session: Session, state: State) -> "tuple[str, str, int, int] | None":
    """Return the step whose limit of visits ended the run, its counter, its limit, and the allowed visits; or None."""
    edge: Any = next(iter(session.program["nodes"].get(state.node.rpartition("/")[0], {}).get("edges", ())), {})
    register, _, most = next(iter(edge.get("if", ())), ("", "", 0))
    if state.condition != "stop" or not register.endswith(" visits") or not session.is_same(state):
        return None
    raised = [one["visits"] for one in state.finished if one["next"] == edge["go"] and "visits" in one]
    return edge["go"], register, most, [most, *raised][-1]


def raise_visits(session: Session) -> None:
    """Continue a run that ended at a limit of visits, if this call allows more."""
    given, found = session.options.max_visits, reached(session, session.state)
    most = number_of("--max-visits", given, 0) or MOST_VISITS
    if found is None and any(one.get("visits") == most for one in session.state.finished[-1:]):
        return  # an interrupted call has allowed them
    if found is None:
        raise UsageError("--max-visits continues only a run that ended at a limit of visits")
    step, register, limit, before = found
    if most <= before:
        raise UsageError(f"--max-visits {most}: step {register.rpartition(' ')[0]} has had {before}; allow more")
    edge = {"go": step, "do": [[register, "=", limit - most + before + 1]]}
    move = follow(session.program, edge, session.state.registers)
    record = session.moved(session.state.node, move, "goto", f"allowed up to {given} visits")
    session.record({**record, "visits": most, **session.condition_after(move, begins=False)})


class Visits(Extension):
    """Lets an operator continue a run that ended at a step's limit of visits."""

    options = (("resume", "--max-visits", "NUMBER", "allow the step at its limit more visits; 0 for no limit"),)

    @classmethod
    def suits(cls, program: Table) -> bool:
        """Return whether the program limits visits."""
        return any(name.endswith(" visits") for name in program["registers"])

    def again(self, state: State) -> "list[tuple[str, str]]":
        """Return the command that allows another visit."""
        found, call = reached(self.session, state), self.session.call
        return [("to allow another visit", call("resume", "--max-visits", str(found[3] + 1)))] if found else []

    def resumed(self) -> None:
        """Allow more visits."""
        if self.session.options.max_visits is not None:
            raise_visits(self.session)
