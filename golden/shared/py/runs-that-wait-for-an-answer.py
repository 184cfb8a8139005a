# --- Runs that wait for an answer, and the subcommand that gives it.
def answer(line):  # Record the answer of the unit that waits.
    unit, reply = line.options.UNIT, line.options.RESULT
    with line.locked() as signals:
        state, reading = line.known_state()
        if state.condition != "waiting":
            raise RefusedError("no unit waits for an answer")
        session = line.session(signals, state)
        performer = session.performer(state.node)
        if unit not in performer.names(state.node, line.program["units"][state.node]):
            raise RefusedError(f"{state.node} waits for an answer, {unit} does not")
        session.journal = line.store.journal(reading)
        done = performer.given(unit, reply, "answered")
        if done is not None:
            session.settle(state.node, done, 0.0, begins=False)
    line.display.rule(f"to go on: {line.call('resume')}")
    return EXIT_COMPLETE

def answers_to(unit, name, call):  # Return the commands that answer a unit.
    performer = PERFORMERS[unit["task"]]
    return [call("answer", one, reply) for one in performer.names(name, unit) for reply in performer.replies(unit)]

COMMANDS["answer"] = ("answer the unit that waits", answer)
OPTIONS.append(("answer", "UNIT", "", "the unit that waits"))
OPTIONS.append(("answer", "RESULT", "", "pass, fail, yes or no, or what the unit asks for"))
WAITS.append(answers_to)

