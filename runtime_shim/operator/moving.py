"""The operator's jump: a run that waits, was interrupted or has ended by STOP goes on at another step (I27)."""

from typing import Any

from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import EXIT_COMPLETE, RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import ENDED, State, utc_now
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import Move, follow

UNANSWERED = ("fail", "failed", "invalid", "ambiguous")  # outcomes of calls without an answer that counts


def is_within(jumps: Table, name: str, group: str) -> bool:
    """Tell whether a step stands in a group; most groups have just the steps whose names begin with theirs."""
    told = jumps.get("within", {})
    return name in told[group] if group in told else name.startswith((f"{group}.", f"{group}/"))


def target_of(program: Table, name: str) -> Table:
    """Return what a jump to a step or group does."""
    jumps: Table = program.get("jumps", {})
    known: Table = jumps.get("to", {})
    doing = [each for each, node in program["nodes"].items() if node["task"] not in ("branch", "end")]
    inside = [each for each in doing if name and each.startswith((f"{name}.", f"{name}/"))]
    if name in known:
        found: Table = known[name]
        return found
    if name in doing or inside:
        around = [[group, do] for group, do in jumps.get("enter", {}).items() if is_within(jumps, name, group)]
        if name in doing:
            return {"go": name, "entering": around}
        return {"go": inside[0], "entering": around, "do": jumps.get("enter", {}).get(name, [])}
    import difflib

    near = difflib.get_close_matches(name, [*doing, *known], 1)
    hint = f"did you mean {near[0]}?" if near else "`steps` lists the steps"
    raise RefusedError(f"there is no step {one_line(name)!a}; {hint}")


def moved(program: Table, state: State, name: str) -> Move:
    """Return where a jump leads and what it changes; the step that is left has all its attempts again (M9)."""
    jumps, jump = program.get("jumps", {}), target_of(program, name)
    node = program["nodes"].get(state.node, {})
    do: list[Any] = [[node["attempt"], "=", 0]] if "attempt" in node else []
    for group, effects in jump.get("entering", ()):  # the outermost first
        if not is_within(jumps, state.node, group):
            do += effects
    whole = {**program, "scopes": {**program.get("scopes", {}), **jumps.get("scopes", {})}}
    return follow(whole, {"go": jump["go"], "do": [*do, *jump.get("do", ())]}, state.registers)


def check_movable(session: Session, state: State) -> None:
    """Refuse to move a run that is over, or whose command still runs."""
    anew = f"begin a new run: {session.call('run')}"
    if state.condition == "complete":
        raise RefusedError(f"the run is complete; {anew}")
    if not session.is_same(state):
        raise RefusedError("this run belongs to a different version of this program; goto needs the same one")
    if state.condition == "stop" and session.program["nodes"][state.node]["task"] != "end":  # at the limit of steps
        raise RefusedError(f"{state.message}; {anew}")
    if pids := ", ".join(str(one["pid"]) for one in state.left_behind()):
        raise RefusedError(f"{session.label(state.node)}: its command still runs (pid {pids}); wait for it, or end it")


def goto(session: Session) -> int:
    """Move the run, and record that like an outcome; it goes on with `resume`."""
    session.alone()
    session.take(session.read())
    state, before = session.state, session.state.node
    check_movable(session, state)
    move = moved(session.program, state, session.options.STEP)
    stand = session.stand(move, begins=False)  # no limit and no pause that was due apply
    title = session.filled(session.program["nodes"][before], "title")
    session.store.open()
    about = {"node": before, "title": title, "attempt": 1, "instances": {}, "outcome": "goto", "seconds": 0.0}
    about.update(how=f"moved to {one_line(move.node)}", says="", next=move.node, time=utc_now())
    session.record({"kind": "done", **about, "changed": move.changed, **stand})
    last = state.finished[-1]
    session.emit("goto", **{key: last[key] for key in ("node", "next", "by", "note") if key in last})
    session.display.rule(f"moved from {before} to {session.label(move.node)}")
    if state.condition not in ENDED:
        session.display.rule(f"to continue: {session.call('resume')}")
    return EXIT_COMPLETE


class Moving(Extension):
    """The subcommand `goto`."""

    commands = {"goto": ("move the run to another step", goto)}
    options = (
        ("goto", "STEP", "", "the step, or the group that begins with it"),
        ("goto", "--events", "FILE", "append what happens, as JSON lines"),
    )

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether runs can be moved: a completed step of a specification is never done again (B16)."""
        return "contract" not in program

    def again(self, state: State) -> list[tuple[str, str]]:
        """Return the command that calls an agent or tool again which ended a run by STOP."""
        session, nodes = self.session, self.session.program["nodes"]
        is_at_end = state.condition == "stop" and nodes.get(state.node, {}).get("task") == "end"
        if not is_at_end or not session.is_same(state):  # `goto` refuses these
            return []
        last = [one["node"] for one in state.finished[-1:] if one["outcome"] in UNANSWERED]
        called = [step for step in last if nodes[step]["task"] in ("agent", "tool", "parallel")]
        return [("to call it again", f"{session.call('goto', step)} && {session.call('resume')}") for step in called]
