# --- Units that an agent answers (I11).
class Agents(Commanded):  # Gives prompts to agents.
    def perform(self, name, unit):  # Give the prompt to the command of the agent's type and read its answer.
        prompt = self.session.filled(unit, "prompt")
        done = self.from_file(name)
        if done is not None:
            return done
        command = self.command_of(unit["agent"])
        if command is None:
            return self.by_hand(name, prompt)
        (answered,) = self.converse(unit, [(name, unit, command, prompt)])
        answer = answer_of(answered)
        word, trouble = self.read(unit, answer)
        return told(Done(word, answered.trouble or trouble or ("" if answer else "an empty answer")), answer or "")
    def given(self, name, reply, how):  # Read an answer that a person gives.
        unit, answer = self.session.program["units"][name], self.answered(name, reply)
        if len(answer.encode()) > LARGEST_ANSWER:
            return Done(self.read(unit, None)[0], "the answer is too long")
        word, trouble = self.read(unit, answer)
        return told(Done(word, trouble or how), answer)

PERFORMERS["agent"] = Agents

