# --- The operator's jump: a run that waits, was interrupted or has ended by STOP goes on at another unit (I27).
def target_of(program, name):  # Return what a jump to a unit or group does.
    jumps, units = program.get("jumps", {}).get("to", {}), program["units"]
    doing = [each for each, unit in units.items() if unit["task"] in PERFORMERS]
    if name in jumps:
        found = jumps[name]
        return found
    inside = [each for each in doing if each.startswith((f"{name}.", f"{name}/"))] if name else []
    if name in doing or inside:
        return {"go": name if name in doing else inside[0], "entering": _around(program, name)}
    import difflib
    near = difflib.get_close_matches(name, [*doing, *jumps], 1)
    raise RefusedError(f"there is no unit {one_line(name)!a}" + (f"; did you mean {near[0]}?" if near else ""))

def _around(program, name):
    """Return what begins afresh in the groups around a unit where a jump comes into them, the outermost first."""
    jumps = program.get("jumps", {})
    return [[group, do] for group, do in jumps.get("enter", {}).items() if name in jumps["within"][group]]

def moved(program, state, name):
    """Return where a jump leads and what it changes; the unit that is left has all its attempts again (M9)."""
    jumps, jump = program.get("jumps", {}), target_of(program, name)
    unit = program["units"].get(state.node, {})
    do = [[unit["attempt"], "=", 0]] if "attempt" in unit else []
    for group, effects in jump.get("entering", ()):
        if state.node not in jumps["within"][group]:
            do += effects
    whole = {**program, "scopes": {**program.get("scopes", {}), **jumps.get("scopes", {})}}
    return follow(whole, {"go": jump["go"], "do": [*do, *jump.get("do", ())]}, state.registers)

def check_movable(session, state):  # Refuse to move a run that is over, or whose command still runs.
    if state.condition == "complete":
        raise RefusedError(f"the run is complete; begin a new one: {session.call('run')}")
    if not session.is_same(state):
        raise RefusedError("this run belongs to a different version of this program; goto needs the same one")
    if state.condition == "stop" and session.program["units"].get(state.node, {}).get("task") != "end":
        raise RefusedError(f"{state.message}; begin a new run: {session.call('run')}")
    running = state.left_behind()
    if running:
        pids = ", ".join(str(one["pid"]) for one in running)
        raise RefusedError(
            f"{session.label(state.node)}: its command still runs (pid {pids}); wait for its end, or end it"
        )

def stand_at(session, move):  # Say what a run does where it was moved; no pause that was due applies.
    unit = session.program["units"][move.node]
    if unit["task"] == "end":
        return {"condition": unit["result"], "message": session.filled(unit, "message", move.registers)}
    return {"condition": "ready" if PERFORMERS[unit["task"]].recovers else "waiting"}

def goto(session):  # Move the run, and record that like an outcome; it goes on with `resume`.
    session.alone()
    session.take(session.read())
    state, before = session.state, session.state.node
    check_movable(session, state)
    move = moved(session.program, state, session.options.UNIT)
    title = session.filled(session.program["units"][before], "title")
    session.store.open()
    about = {"unit": before, "title": title, "attempt": 1, "instances": {}, "outcome": "goto", "seconds": 0.0}
    about.update(how=f"moved to {one_line(move.node)}", says="", next=move.node, time=utc_now())
    session.record({"kind": "done", **about, "changed": move.changed, **stand_at(session, move)})
    last = state.finished[-1]
    session.emit("goto", **{key: last[key] for key in ("unit", "next", "by", "note") if key in last})
    session.display.rule(f"moved from {before} to {session.label(move.node)}")
    if state.condition not in ENDED:
        session.display.rule(f"to go on: {session.call('resume')}")
    return EXIT_COMPLETE

COMMANDS["goto"] = ("move the run to another unit", goto)
OPTIONS += [
    ("goto", "UNIT", "", "the unit, or the group that begins with it"),
    ("goto", "--events", "FILE", "append what happens, as JSON lines"),
    ("goto", "--state-dir", "DIR", "where the state is kept"),
]

