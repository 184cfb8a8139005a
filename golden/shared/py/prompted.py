# --- Prompts that an agent answers because the operator says so by --agent (M3): approval is not for any agent.
CLOSING = "Answer {}. End your answer with a line that is just the reply."

class Replying(Conversing):
    noun = "agent"
    seconds = AGENT_SECONDS
    def variables(self, name, what):
        return {**super().variables(name, what), "RDC_AGENT_TYPE": ""}

class AgentPrompts(Prompts):
    def __init__(self, session):
        super().__init__(session)
        self._command = named(session.options, session.options.agent or "")
        self._agent = Replying(session) if self._command else None
    def perform(self, name, node):
        done = self.from_file(name) if self._agent is not None else None
        if self._agent is None or done is not None:
            return done or super().perform(name, node)
        session = self.session
        closing = CLOSING.format(node["question"].upper().replace("/", " or "))
        parts = (session.label(name), *(session.filled(node, key) for key in ("prompt", "block")), closing)
        prompt = "\n\n".join(filter(None, parts)) + "\n"
        (answered,) = self._agent.converse(node, [(name, {}, self._command, prompt)])
        answer = answer_of(answered) or ""
        outcome = verdict(answer)
        how = answered.trouble or ("answered by the agent" if outcome else "the agent did not say pass or fail")
        return session.told(Done(outcome or "fail", how), answer)

def verdict(answer):
    last = next((line for line in reversed(answer.split("\n")) if line.strip()), "")
    word = re.sub("[^A-Z]", "", last.upper()).lower()
    return "pass" if word == "ok" else MEANINGS.get(word)

class OfPrompts(Extension):
    options = AGENT
    performers = {"ask": AgentPrompts}
    @staticmethod
    def suits(program):
        return "contract" not in program

