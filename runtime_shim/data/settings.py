"""Settings of a run that its operator gives once: the journal keeps them, and later calls go by them too."""

import collections
import os
import re
import time
from typing import Any, Callable, Optional

from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension, Waiting
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.state import ENDED, State
from runtime_shim.engine.texts import duration, one_line
from runtime_shim.engine.walk import Move

TIME_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
LONGEST_TIME = 10**9  # seconds
UNANSWERED = ("fail", "failed", "invalid", "ambiguous")  # outcomes of calls without an answer that counts
CALLED = ("agent", "tool", "parallel")  # the kinds of tasks that call a command with a text
AGENT_CALL = "agent "  # begins what is counted of an agent: with the name of its step or entry


def seconds_of(option: str, given: str) -> int:
    """Return the seconds of a time; `option` is for the refusal of what is none."""
    found = re.fullmatch(r"([0-9]{1,9})([smhd]?)", given)
    seconds = int(found[1]) * TIME_UNITS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST_TIME:
        raise RefusedError(f"{option} {one_line(given)!a}: give a time such as 90s, 30m, 24h or 7d")
    return seconds


def number_of(option: str, given: str, least: int) -> int:
    """Return a number that an option takes."""
    if not re.fullmatch("[0-9]{1,9}", given) or int(given) < least:
        raise RefusedError(f"{option} {one_line(given)!a}: give a number, at least {least}")
    return int(given)


READ: dict[str, Callable[[str], Any]] = {
    "agent_calls": lambda given: number_of("--agent-calls", given, 1),
    "expire": lambda given: seconds_of("--expire", given),
    "max_steps": lambda given: number_of("--max-steps", given, 0),
    "out": os.path.abspath,  # wherever the run goes on
}
REMINDED = (
    *("--agent", "--agent-for", "--tool", "--agent-model", "--agent-timeout", "--agent-retries"),
    *("--mock", "--out"),
)  # whoever answers by hand is reminded of these options; their values are kept nowhere


def agreed(state: State) -> Table:
    """Return the settings of a run; what was said last counts."""
    notes = (note["agreed"] for note in state.notes if note["kind"] == "agreed")
    last = state.finished[-1] if state.finished else state.begin
    found: Table = {}
    for part in (last.get("agreed", {}), *notes):
        found.update(part)
    return found


def settings_in(options: Any, before: Table) -> Table:  # noqa: ANN401 (a namespace)
    """Return the settings that the options of a call have; breakpoints are added to those before."""
    found = {key: read(given) for key, read in READ.items() if (given := getattr(options, key, None))}
    if breaks := getattr(options, "break"):
        found["breaks"] = [*dict.fromkeys([*before.get("breaks", ()), *breaks])]
    known = {name for _, name, _, _ in options.known}
    if given := [name for name in REMINDED if name in known and getattr(options, name[2:].replace("-", "_"))]:
        found["given"] = given
    return found


def calls_of(notes: list[Record]) -> "collections.Counter[str]":
    """Return the calls of the step at which a run stands."""
    return collections.Counter(note["call"] for note in notes if note["kind"] == "call")


def tally(state: State) -> "collections.Counter[str]":
    """Return all calls of a run, over all resumes."""
    found = calls_of(state.notes)
    for record in state.finished:
        found.update(record.get("calls", {}))
    return found


def may_call(state: State, more: int) -> bool:
    """Tell whether the budget of a run has room for more calls of agents."""
    made = sum(number for name, number in tally(state).items() if name.startswith(AGENT_CALL))
    budget = agreed(state).get("agent_calls")
    return bool(budget is None or made + more <= budget)


def spent(name: str, state: State) -> str:
    """Say that there is no call left for a step."""
    budget = agreed(state)["agent_calls"]
    return f"{name}: the budget of {budget} calls of agents is spent; `resume --agent-calls NUMBER` goes on"


def is_in(program: Table, name: str, place: str) -> bool:
    """Tell whether a step has a name, or is in the step that has it: `2/elicit` and `2a` are in `2`."""
    told = program.get("steps", {})
    if name in told:
        return name == place or place in told[name]
    return re.fullmatch(rf"{re.escape(place)}([a-z]?(/.*)?|\.[0-9]+.*)", name) is not None


class OfMore(Extension):
    """A part of programs that do more than run commands: they call agents or tools, or leave an artifact."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program does."""
        tasks = {node["task"] for node in program["nodes"].values()}
        return "artifact" in program or not tasks.isdisjoint(CALLED)


class Settings(OfMore):
    """Keeps the settings, counts calls, and lets a run wait or end where the settings say so."""

    options = (
        ("run", "--expire", "TIME", "a run that waits longer than this is over, such as 24h"),
        ("run resume", "--break", "STEP...", "wait after this step; `resume` goes on"),
        ("run resume", "--agent-calls", "NUMBER", "how many calls of agents the whole run may make"),
        ("run resume", "--max-steps", "NUMBER", "how many steps the whole run may do, 0 for any number"),
    )

    def prepare(self) -> None:
        """Refuse a breakpoint that no run can come to."""
        program = self.session.program
        doing = [name for name, node in program["nodes"].items() if node["task"] in self.session.kinds]
        for place in getattr(self.session.options, "break"):
            if not any(is_in(program, name, place) for name in doing):
                raise RefusedError(f"--break {one_line(place)!a}: there is no such step; `steps` lists the steps")

    def before_run(self, state: Optional[State]) -> None:
        """Put the number of steps that the operator allows in the place of the program's limit (W14)."""
        before = {} if state is None else agreed(state)
        most = {**before, **settings_in(self.session.options, before)}.get("max_steps")
        if most is not None:
            self.session.program = {**self.session.program, "limit": most}

    def record(self, record: Record) -> Record:
        """Add the settings and the calls of a step; a run waits where it leaves a place with a breakpoint."""
        kind, session = record.get("kind"), self.session
        if kind not in ("begin", "done"):
            return record
        state: Any = None if kind == "begin" else session.state
        found = agreed(state) if state else settings_in(session.options, {})
        calls = calls_of(state.notes) if state else {}
        more: Table = {"agreed": found, "calls": dict(calls)}
        record = {**record, **{key: value for key, value in more.items() if value}}
        if state is None or record["condition"] in ENDED:
            return record
        whole, left, entered = session.program, record["node"], record["next"]
        breaks = (place for place in found.get("breaks", ()) if is_in(whole, left, place))
        is_left = any(not is_in(whole, entered, place) for place in breaks)
        return {**record, "condition": "waiting", "paused": True} if is_left else record

    def after_step(self, _move: Move) -> None:
        """Wait at a breakpoint, once that is recorded."""
        session = self.session
        if session.options.command in ("run", "resume") and session.state.finished[-1].get("paused"):
            raise Waiting(f"to continue: {session.call('resume')}")

    def stand(self, move: Move, before: Optional[State], stand: Record) -> Record:
        """Return what a run does that may make no further call."""
        node = self.session.program["nodes"][move.node]
        due = len(node["entries"]) if node["task"] == "parallel" else node["task"] == "agent"
        if before is None or not due or may_call(before, due):
            return stand
        return {"condition": "stop", "message": spent(move.node, before), "spent": True}

    def resumed(self) -> None:
        """Record the settings that a resume changes; take up a run that ended at a limit, if this call allows more."""
        session, state = self.session, self.session.state
        before = agreed(state)
        found = settings_in(session.options, before)
        if any(before.get(key) != value for key, value in found.items()):
            session.record({"kind": "agreed", "agreed": found})
        last: Record = state.finished[-1] if state.condition == "stop" and state.finished else {}
        most = session.program.get("limit", 0)
        if ("limited" in last and (most == 0 or most > last["limited"])) or ("spent" in last and may_call(state, 1)):
            session.record({"kind": "again", "condition": "ready"})

    def hint(self) -> str:
        """Name the options that the run was given last."""
        given = agreed(self.session.state).get("given", ())
        return f"   (with {', '.join(given)}, as before)" if given else ""

    def again(self, state: State) -> list[tuple[str, str]]:
        """Return the command that calls an agent or tool again which ended a run by STOP."""
        session, nodes = self.session, self.session.program["nodes"]
        is_at_end = state.condition == "stop" and nodes.get(state.node, {}).get("task") == "end"
        if not is_at_end or not session.is_same(state):  # `goto` refuses these
            return []
        last = [one["node"] for one in state.finished[-1:] if one["outcome"] in UNANSWERED]
        called = [step for step in last if nodes[step]["task"] in CALLED]
        return [("to call it again", f"{session.call('goto', step)} && {session.call('resume')}") for step in called]

    def waits(self) -> None:
        """Record since when a run waits."""
        state = self.session.state
        if "expire" in agreed(state) and all(note["kind"] != "waits" for note in state.notes):
            self.session.record({"kind": "waits", "since": time.time()})

    def read(self, state: State) -> None:
        """End a run that has waited too long."""
        since = [note["since"] for note in state.notes if note["kind"] == "waits"]
        longest = agreed(state).get("expire")
        if state.condition == "waiting" and longest and since and time.time() - since[0] > longest:
            state.condition, state.message = "stop", f"expired: the run waited longer than {duration(longest)}"
            state.notes.append({"kind": "expired"})

    def facts(self, state: State) -> Table:
        """Tell the status of such a run."""
        is_over = any(note["kind"] == "expired" for note in state.notes)
        return {"state": "expired", "expired": True} if is_over else {}
