"""Jumps: an operator continues an unfinished run at another step."""

from typing import Any, ClassVar

from runtime_shim.engine.journal import picked
from runtime_shim.engine.program import EXIT_COMPLETE, Table, UsageError
from runtime_shim.engine.session import Extension, Session, Subcommands
from runtime_shim.engine.state import ENDED, State
from runtime_shim.engine.texts import meant, one_line
from runtime_shim.engine.walk import Move, follow


def is_within(jumps: Table, name: str, group: str) -> bool:
    """Return whether a step is in a group, listed or by the prefix of its name."""
    members = jumps.get("within", {})
    return name in members[group] if group in members else name.startswith((f"{group}.", f"{group}/"))


def target_of(program: Table, name: str) -> Table:
    """Return the effects of a jump to a step or group."""
    jumps: dict[str, dict[str, Table]] = program.get("jumps", {})
    known, enter = jumps.get("to", {}), jumps.get("enter", {})
    if name in known:
        return known[name]
    doing = [each for each, node in program["nodes"].items() if node["task"] not in ("branch", "end")]
    inside = [name] if name in doing else [each for each in doing if name and is_within({}, each, name)]
    if inside:
        around = [[group, do] for group, do in enter.items() if is_within(jumps, name, group)]
        return {"go": inside[0], "entering": around, "do": enter.get(name, ())}
    hint = meant(name, [*doing, *known]) or "; `steps` lists the steps"
    raise UsageError(f"there is no step {one_line(name)!a}{hint}")


def moved(program: Table, state: State, name: str) -> Move:
    """Return the move of a jump. The step that is left gets all its attempts back."""
    jumps, jump, node = program.get("jumps", {}), target_of(program, name), program["nodes"].get(state.node, {})
    do: list[Any] = [[node["attempt"], "=", 0]] if "attempt" in node else []
    for group, effects in jump.get("entering", ()):  # outermost first
        if not is_within(jumps, state.node, group):
            do += effects
    whole = {**program, "scopes": {**program.get("scopes", {}), **jumps.get("scopes", {})}}
    return follow(whole, {"go": jump["go"], "do": [*do, *jump.get("do", ())]}, state.registers)


def goto(session: Session, shows: bool = True) -> int:
    """Move the run, record that like an outcome, and show how to go on.

    Refuse if the run is over or its command is running.
    """
    session.alone()
    session.take(session.read())
    state, before = session.state, session.state.node
    if not session.is_same(state):
        raise UsageError("goto needs the version of this program that started the run")
    if left := state.left():
        raise UsageError(f"{session.label(before)}: {left}")
    move = moved(session.program, state, session.options.STEP)
    session.store.open()
    record = session.moved(before, move, "goto", f"moved to {one_line(move.node)}")
    session.record({**record, "says": "", **session.condition_after(move, begins=False)})  # no limits, no pauses
    session.emit("goto", **picked(state.finished[-1], ("node", "next", "by", "note")))
    session.display.rule(f"moved from {before} to {session.label(move.node)}", *session.gathered("decided"))
    if shows and state.condition not in ENDED:
        session.display.rule(f"to continue: {session.call('resume')}")
    return EXIT_COMPLETE


class Jumps(Extension):
    """The subcommand `goto`."""

    commands: ClassVar[Subcommands] = {"goto": ("move the run to another step", goto)}
