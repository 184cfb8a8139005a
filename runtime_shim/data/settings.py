"""Settings of a run that its operator gives once: the journal keeps them, and later calls go by them too."""

import os
import re
import time
from typing import Any, Callable, Optional

from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension, Waiting
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.state import ENDED, State
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import Move

TIME_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
LONGEST_TIME = 10**9  # seconds
UNANSWERED = ("fail", "failed", "invalid", "ambiguous")  # outcomes of calls without an answer that counts


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


class OfMore(Extension):
    """A part of programs that do more than run commands: they call agents or tools, or leave an artifact."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program does."""
        tasks = {node["task"] for node in program["nodes"].values()}
        return "artifact" in program or not tasks.isdisjoint(("agent", "tool", "parallel"))


class Settings(OfMore):
    """Keeps the settings. A run that waits longer than its operator allows is over."""

    options = (("run", "--expire", "TIME", "a run that waits longer than this is over, such as 24h"),)

    def record(self, record: Record) -> Record:
        """Write the settings into the first record of a run, and into that of each step that is done."""
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
        """Name the options that the run was given last."""
        given = agreed(self.session.state).get("given", ())
        return str(self.session.through("worded", f"   (with {', '.join(given)}, as before)" if given else ""))

    def again(self, state: State) -> list[tuple[str, str]]:
        """Return the command that calls an agent or tool again which ended a run by STOP."""
        session, nodes = self.session, self.session.program["nodes"]
        is_at_end = state.condition == "stop" and nodes.get(state.node, {}).get("task") == "end"
        if not is_at_end or not session.is_same(state):  # `goto` refuses these
            return []
        last = [one["node"] for one in state.finished[-1:] if one["outcome"] in UNANSWERED]
        called = [step for step in last if nodes[step]["task"] in ("agent", "tool", "parallel")]
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


class Breaks(OfMore):
    """Breakpoints: a run waits after a step, with all that is in it, until it is resumed."""

    options = (("run resume", "--break", "STEP...", "wait after this step; `resume` goes on"),)

    def prepare(self) -> None:
        """Refuse a breakpoint that no run can come to."""
        program = self.session.program
        doing = [name for name, node in program["nodes"].items() if node["task"] in self.session.kinds]
        for place in getattr(self.session.options, "break"):
            if not any(is_in(program, name, place) for name in doing):
                raise RefusedError(f"--break {one_line(place)!a}: there is no such step; `steps` lists the steps")

    def record(self, record: Record) -> Record:
        """Have the run wait where it leaves a place with a breakpoint."""
        if record.get("kind") != "done" or record["condition"] in ENDED:
            return record
        places = agreed(self.session.state).get("breaks", ())
        whole, left, entered = self.session.program, record["node"], record["next"]
        is_left = any(is_in(whole, left, place) and not is_in(whole, entered, place) for place in places)
        return {**record, "condition": "waiting", "paused": True} if is_left else record

    def after_step(self, _move: Move) -> None:
        """Wait, once that is recorded."""
        session = self.session
        if session.options.command in ("run", "resume") and session.state.finished[-1].get("paused"):
            raise Waiting(f"to continue: {session.call('resume')}")


def is_in(program: Table, name: str, place: str) -> bool:
    """Tell whether a step has a name, or is in the step that has it: `2/elicit` and `2a` are in `2`."""
    told = program.get("steps", {})
    if name in told:
        return name == place or place in told[name]
    return re.fullmatch(rf"{re.escape(place)}([a-z]?(/.*)?|\.[0-9]+.*)", name) is not None


class MostSteps(OfMore):
    """How many steps a run may do, where the operator says so: 0 for as many as it takes (W14)."""

    options = (("run resume", "--max-steps", "NUMBER", "how many steps the whole run may do, 0 for any number"),)

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has a limit that this one takes the place of."""
        return "limit" in program and OfMore.suits(program)

    def before_run(self, state: Optional[State]) -> None:
        """Put the number of the operator in the place of the program's limit."""
        before = {} if state is None else agreed(state)
        most = {**before, **settings_in(self.session.options, before)}.get("max_steps")
        if most is not None:
            self.session.program = {**self.session.program, "limit": most}

    def resumed(self) -> None:
        """Take up a run that has ended at its limit, if this call allows more."""
        state, most = self.session.state, self.session.program["limit"]
        limit = state.finished[-1].get("limited") if state.condition == "stop" and state.finished else None
        if limit is not None and (most == 0 or most > limit):
            self.session.record({"kind": "again", "condition": "ready"})
