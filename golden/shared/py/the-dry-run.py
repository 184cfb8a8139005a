# --- The dry run: the walk as it would be, nothing done and nothing recorded.
ROUNDS = 10  # how often a unit is shown

def rehearse(session):  # Walk without doing anything and return the lines that tell of it.
    units, state = session.program["units"], session.state
    visits = Counter()
    lines = []
    while units[state.node]["task"] != "end":
        name, unit, performer = state.node, units[state.node], session.performer(state.node)
        visits[name] += 1
        if visits[name] > ROUNDS:
            return [*lines, f"It would go round from {session.label(name)} again: the walk ends here."]
        done = performer.rehearse(name, unit)
        move = advance(session.program, name, state.registers, done.outcome, done.verbs)
        lines += [session.label(name), *(line for key in performer.keys for line in session.texts(unit, key))]
        lines.append(f"  {word_of(unit, done.outcome)} ({done.how}): {one_line(move.says)}".rstrip())
        state.node, state.registers = move.node, dict(move.registers)
    message = one_line(session.filled(units[state.node], "message"))
    return [*lines, f"The run would end: {units[state.node]['result'].upper()} {message}".rstrip()]

