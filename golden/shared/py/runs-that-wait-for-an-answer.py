# --- Runs that wait for an answer, and the subcommand that gives it.
def answer(session):  # Record the answer of the unit that waits.
    unit, reply = session.options.UNIT, session.options.RESULT
    session.alone()
    session.take(session.read())
    state = session.state
    if state.condition != "waiting":
        raise RefusedError("no unit waits for an answer")
    performer = session.performers[state.node]
    if unit not in performer.names(state.node, session.program["units"][state.node]):
        raise RefusedError(f"{state.node} waits for an answer, {unit} does not")
    session.store.open()
    done = performer.given(unit, reply, "answered")
    if done is not None:
        session.settle(state.node, done, 0.0, begins=False)
    line = f"to go on: {session.call('resume')}"
    session.display.rule(line)
    return EXIT_COMPLETE

def answers_to(session, unit, name):  # Return the commands that answer a unit.
    performer, call = PERFORMERS[unit["task"]], session.call
    return [call("answer", one, reply) for one in performer.names(name, unit) for reply in performer.replies(unit)]

COMMANDS["answer"] = ("answer the unit that waits", answer)
OPTIONS.append(("answer", "UNIT", "", "the unit that waits"))
OPTIONS.append(("answer", "RESULT", "", "pass, fail, yes or no, or what the unit asks for"))
WAITS.append(answers_to)

