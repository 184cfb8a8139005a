# --- Agents: which command answers for a type of agent, what it gets, and how its answer is read.
def above(program, name, registers):
    found = []
    while name:
        context = program["contexts"][name]
        parts = (part if isinstance(part, str) else shown(part, registers) for part in context["parts"])
        found.append("".join(parts))
        name = context.get("after", "")
    return "".join(reversed(found))

class Contexts(Extension):
    @staticmethod
    def suits(program):
        return "contexts" in program
    def identify(self, nodes):
        known = {"": ""}
        for name, context in self.session.program["contexts"].items():
            known[name] = digest([context["parts"], known[context.get("after", "")]])
        above = {
            name: [known[one.get("context", "")] for one in (node, *node.get("entries", ()))]
            for name, node in nodes.items()
        }
        return {name: {**node, "above": above[name]} if any(above[name]) else node for name, node in nodes.items()}

LONGEST_SEARCH = 60  # seconds: an hour may not be enough for `\\d+:` in a megabyte of digits
def named(options, command):
    return called(command, (options.agent_model or "") if is_recipe(command) else "")

class Commanded(Caller):
    noun = "agent"
    seconds = AGENT_SECONDS
    def __init__(self, session):
        super().__init__(session)
        options = session.options
        self._common = options.agent or os.environ.get("RDC_AGENT") or None
        self._given = pairs("--agent-for", options.agent_for)
        self.retries = number_of("--agent-retries", options.agent_retries, 0) if options.agent_retries else 0
        self._seconds = seconds_of("--agent-timeout", options.agent_timeout) if options.agent_timeout else 0
        commands = [self._common or "", *self._given.values()]
        if options.agent_model and not any(map(is_recipe, commands)):
            called(next(filter(None, commands), ""), options.agent_model)
    @cached_property
    def _listed(self):
        path = "" if self.session.options.agent else os.environ.get("RDC_AGENTS")
        lines = read_text(path).splitlines() if path else ()
        return pairs(f"RDC_AGENTS {path}", [line for line in lines if line.strip() and line.lstrip()[0] != "#"])
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
        settings = what.get("keywords", ()), what.get("validation"), what.get("excused", ())
        try:
            return read_word(answer, *settings, search=self._is_found), ""
        except SearchError as error:
            return read_word(None, *settings), f"looking for its validation pattern: {error}"
    def _is_found(self, pattern, answer):
        given = ["search", re.IGNORECASE, pattern, answer]
        return child_says(self.processes, MATCH, given, LONGEST_SEARCH, "-S") == b"True\n"

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

# An agent answers questions because the operator says so by --agent: approval is not for any agent.
CLOSING = "Answer {}. End your answer with a line that is just the reply."

class AgentPrompts(Prompts, Prompting):
    noun = "agent"
    seconds = AGENT_SECONDS
    def __init__(self, session):
        super().__init__(session)
        self._command = named(session.options, session.options.agent or "")
    def variables(self, name, what):
        return {**super().variables(name, what), "RDC_AGENT_TYPE": ""}
    def perform(self, name, node):
        done = self.from_file(name) if self._command else None
        if done is not None or not self._command:
            return done or super().perform(name, node)
        session = self.session
        closing = CLOSING.format(node["question"].upper().replace("/", " or "))
        parts = (session.label(name), *(session.filled(node, key) for key in ("prompt", "block")), closing)
        prompt = "\n\n".join(filter(None, parts)) + "\n"
        (answered,) = self.converse(node, [(name, {}, self._command, prompt)])
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

