# --- Mock runs: agents and tools answer from a file, and no process is called (`--mock`).
TASKS = ("agent", "parallel", "tool")

class Mocked(Trying):
    def command_of(self, name):
        node = self.session.program["nodes"][self.session.state.node]
        is_unknown = node.get("optional") and f"{name}/{node['tool']}" not in self.mocks["tools"]
        return None if is_unknown else "mock"
    def count(self, calls, due):
        session, before = self.session, tally(self.session.state)
        for name, what, _, _ in (calls[index] for index in due):
            key = self.key(name, what)
            if self._reply(key, before[key]) is None:
                session.rest()
                kind, _, called = key.partition(" ")
                where = one_line(f"{KIND_OF[kind]}: {called}")
                raise RefusedError(
                    f"{name}: {session.options.mock} has no answer number {before[key] + 1} under {where}"
                )
        super().count(calls, due)
    def call(self, _node, calls):
        answers = [self._answer(name, self.key(name, what), given) for name, what, _, given in calls]
        for (name, *_), answered in zip(calls, answers):  # Python 3.9 has no `strict`
            self.settled(name, answered)
        return answers
    def _reply(self, key, number):
        kind, _, called = key.partition(" ")
        return reply_to(self.mocks, KIND_OF[kind], called, number)
    def _answer(self, name, key, given):
        reply = self._reply(key, tally(self.session.state)[key] - 1) or Reply("")
        self.heed_and_show(reply.text)
        kept = self.keep(PROMPTS, name, given)
        self.keep(ANSWERS, name, reply.text, kept)
        return Answered(b"" if reply.trouble else reply.text.encode("utf-8", "replace"), reply.trouble)
    def heed_and_show(self, text):
        self.session.heed()
        if text:
            self._show(text.rstrip("\n"))

class Mocks(Extension):
    options = (("run resume", "--mock", "FILE", "a mock run: agents and tools answer from this file"),)
    @staticmethod
    def suits(program):
        return any(node["task"] in TASKS for node in program["nodes"].values())
    def before_run(self, _state):
        session, path = self.session, self.session.options.mock
        if not path or session.options.command not in ("run", "resume"):
            return
        mocks = mocks_in(path, session.host.parse(path, read_text(path)))
        for task in {*TASKS} & {*session.kinds}:
            session.kinds[task] = type("Mocked", (Mocked, session.kinds[task]), {"mocks": mocks})

EXTENSIONS = (
    Signing, Shell, Asks, Stepping, Shared, Inputs, TaskInput, Secrets, Variables, Slots, Outputs, Limit,
    Pauses, Replies, Asked, OfGates, Moving, Contexts, Agreed, Budget, Reminder, Conversations, OfPrompts,
    OfAgents, OfTools, OfParallels, Reports, Artifact, Produced, Breaks, Expiry, MostSteps, Mocks, ByHand, Logs,
    Notices, Several, History,
)  # in the order in which they take part


if __name__ == "__main__":
    sys.exit(main(built(workflow, EXTENSIONS), EXTENSIONS, host=Host(edition="agents 0276f9ee104e")))
