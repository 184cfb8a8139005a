# --- What a journal and a status know of the texts that a run keeps (I5, I19).
def keeping_text(done, text):  # Return an outcome with its text.
    return done._replace(verbs=keeping(text, {}))

def slots_of(_program, state):  # Return the slots of a run as its status tells them.
    return {"slots": {name: value for name, value in state.registers.items() if not isinstance(value, int)}}

TELLS.append(keeping_text)
FACTS.append(slots_of)

