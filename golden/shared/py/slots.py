# --- Texts that a run keeps: of answers, and the outputs of commands (I5, I17, I19).
def keeping(text, values):
    def keep(before, what):
        if what[0] == "output":
            return values.get(what[1], before)
        return extracted(text, what[1]) if what[0] == "field" else text

    return {**VERBS, "keep": keep}

class Slots(Extension):
    @staticmethod
    def suits(program):
        return any(not isinstance(value, int) for value in program["registers"].values())
    def told(self, done, text):
        return done._replace(verbs=keeping(text, {}))
    def facts(self, state):
        return {"slots": {name: value for name, value in state.registers.items() if not isinstance(value, int)}}

