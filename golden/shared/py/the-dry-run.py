# --- The dry run: the walk as it would be, nothing done and nothing recorded.
LONGEST = 1000

def _counters(program):  # Return the registers that only number instances, and so do not make a place a new one.
    used = set()
    for unit in program["units"].values():
        places = unit.get("placeholders", {}).values()
        used.update(unit.get("variables", {}).values(), (place for place in places if isinstance(place, str)))
    return used

def rehearse(session):  # Walk without doing anything and return the lines that tell of it.
    program, state, numbers = session.program, session.state, _counters(session.program)
    lines = []
    seen = set()
    for _ in range(LONGEST):
        unit = program["units"][state.node]
        if unit["task"] == "end":
            message = one_line(session.filled(unit, "message"))
            return [*lines, f"The run would end: {unit['result'].upper()} {message}".rstrip()]
        here = (state.node, *(value for name, value in state.registers.items() if name not in numbers))
        if here in seen:
            return [*lines, f"It would go round from {session.label(state.node)} again: the walk ends here."]
        seen.add(here)
        performer = session.performer(state.node)
        done = performer.rehearse(state.node, unit)
        move = advance(program, state.node, state.registers, done.outcome, done.verbs)
        lines += [session.label(state.node), *(line for key in performer.keys for line in session.texts(unit, key))]
        lines.append(f"  {word_of(unit, done.outcome)} ({done.how}): {one_line(move.says)}".rstrip())
        state.node, state.registers = move.node, dict(move.registers)
    return [*lines, f"The walk is longer than {LONGEST} units and is not shown further."]

