# --- Slots as environment variables of what a step calls (I7).
def no_answer(node):  # Return the word of a step that could not be done.
    return "failed" if "failed" in words_of(node) else "fail"

def check_texts(session, name):  # Fail a step whose variables do not fit into an environment, instead of beginning it.
    node = session.program["nodes"][name]
    for variable, value in texts_of(node, session.state.registers).items():
        try:
            check_value(variable, value)
        except UnfitError as error:
            failed = Done(no_answer(node), str(error))
            return lambda _name, _node: failed
    return None

VARIABLES.append(texts_of)
BEFORE.append(check_texts)

