# --- Agents: which command answers for a type of agent, and how its answer is read (I11, I12).
def named(options, command):
    return called(command, (options.agent_model or "") if is_recipe(command) else "")

class Commanded(Speaking):
    noun = "agent"
    seconds = AGENT_SECONDS
    def __init__(self, session):
        super().__init__(session)
        self._agent = getattr(session.options, "agent", None)
        self._common = self._agent or os.environ.get("RDC_AGENT") or None
        self._given = pairs("--agent-for", getattr(session.options, "agent_for", []))
        self._read_limits(session.options)
    def _read_limits(self, options):
        retries, seconds, model = (
            getattr(options, f"agent_{name}", None) or "" for name in ("retries", "timeout", "model")
        )
        self.retries = number_of("--agent-retries", retries, 0) if retries else 0
        self._seconds = seconds_of("--agent-timeout", seconds) if seconds else 0
        commands = [self._common or "", *self._given.values()]
        if model and not any(map(is_recipe, commands)):
            called(next(filter(None, commands), ""), model)
    @cached_property
    def _listed(self):
        path = "" if self._agent else os.environ.get("RDC_AGENTS")
        return read_pairs(f"RDC_AGENTS {path}", path) if path else {}
    def command_of(self, kind):
        found = self._given.get(kind) or self._listed.get(kind) or self._common
        return found and named(self.session.options, found)
    def call(self, node, calls):
        return super().call({**node, "timeout": self._seconds} if self._seconds else node, calls)
    def key(self, name, _what):
        return f"{AGENT_CALL}{name}"
    def variables(self, name, what):
        return {**super().variables(name, what), "RDC_AGENT_TYPE": what["agent"]}
    @staticmethod
    def answered(name, reply):
        answer = cleaned(reply)
        if not answer:
            raise RefusedError(f"the answer of {one_line(name)} is empty")
        return answer
    def read(self, what, answer):
        return searched_word(self.processes, what, answer)

