# --- Slots as environment variables of what a unit calls (I7).
def no_answer(unit):  # Return the word of a unit that could not be done.
    return "failed" if "failed" in words_of(unit) else "fail"

def check_texts(session, name):  # Fail a unit whose variables do not fit into an environment, instead of beginning it.
    unit = session.program["units"][name]
    for variable, value in texts_of(unit, session.state.registers).items():
        try:
            check_value(variable, value)
        except UnfitError as error:
            failed = Done(no_answer(unit), str(error))
            return lambda _name, _unit: failed
    return None

VARIABLES.append(texts_of)
BEFORE.append(check_texts)

