# --- Agents: which command answers for a type of agent, and how its answer is read (I11, I12).
class Commanded(Speaking):  # Calls agents.
    noun = "agent"
    seconds = AGENT_SECONDS
    def __init__(self, session):
        super().__init__(session)
        self._agent = getattr(session.options, "agent", None)
        self._common = self._agent or os.environ.get("RDC_AGENT") or None
        self._given = pairs("--agent-for", getattr(session.options, "agent_for", []))
    @cached_property
    def _listed(self):  # The commands of the file that RDC_AGENTS names, which is not read where a flag beats it.
        path = "" if self._agent else os.environ.get("RDC_AGENTS")
        return read_pairs(f"RDC_AGENTS {path}", path) if path else {}
    def command_of(self, kind):  # Return the command of a type of agent.
        return self._given.get(kind) or self._listed.get(kind) or self._common
    def variables(self, name, what):  # Add the type of the agent.
        return {**super().variables(name, what), "RDC_AGENT_TYPE": what["agent"]}
    def read(self, what, answer):  # Return the word of an agent's answer, and what went wrong.
        return searched_word(self.processes, what, answer)

OPTIONS += [
    ("run resume", "--agent", "COMMAND", "answers prompts: a text on standard input, its answer on standard output"),
    ("run resume", "--agent-for", "TYPE=COMMAND...", "the same for one type of agent"),
]

