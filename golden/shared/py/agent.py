# --- Steps that an agent answers (I11).
class Agents(Commanded):
    def perform(self, name, node):
        prompt = self.session.filled(node, "prompt")
        if "context" in node:
            prompt = above(self.session.program, node["context"], self.session.state.registers) + prompt
        done = self.from_file(name)
        if done is not None:
            return done
        command = self.command_of(node["agent"])
        if command is None:
            return self.by_hand(name, prompt)
        (answered,) = self.converse(node, [(name, node, command, prompt)])
        answer = answer_of(answered)
        word, trouble = self.read(node, answer)
        return self.session.told(
            Done(word, answered.trouble or trouble or ("" if answer else "an empty answer")), answer or ""
        )
    def given(self, name, reply, how):
        node, answer = self.session.program["nodes"][name], self.answered(name, reply)
        if len(answer.encode()) > LARGEST_ANSWER:
            return Done(self.read(node, None)[0], "the answer is too long")
        word, trouble = self.read(node, answer)
        return self.session.told(Done(word, trouble or how), answer)

AGENT = (
    ("run resume", "--agent", "COMMAND", "answers prompts: a command, or a name such as claude-code or llm"),
    ("run resume", "--agent-model", "MODEL", "the model of an agent that is called by name"),
)
CALLS = (
    *AGENT,
    ("run resume", "--agent-for", "TYPE=COMMAND...", "the same for one type of agent"),
    ("run resume", "--agent-timeout", "TIME", "how long a call may take (default: 30m)"),
    ("run resume", "--agent-retries", "NUMBER", "how often a call that fails is made again (default: 0)"),
)

class OfAgents(Extension):
    options = CALLS
    performers = {"agent": Agents}
    @staticmethod
    def suits(program):
        return any(node["task"] in ("agent", "parallel") for node in program["nodes"].values())

