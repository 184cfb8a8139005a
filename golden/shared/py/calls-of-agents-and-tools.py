# --- Calls of agents and tools: counted, limited, made again where they fail, or answered by a person.
AGENT_CALL = "agent "  # begins what is counted of an agent: with the name of its step or entry
FIRST_PAUSE = 2  # seconds; each further pause is twice as long
def calls_of(notes):
    return collections.Counter(note["call"] for note in notes if note["kind"] == "call")
def tally(state):
    found = calls_of(state.notes)
    for record in state.finished:
        found.update(record.get("calls", {}))
    return found
def may_call(state, more):
    made = sum(number for name, number in tally(state).items() if name.startswith(AGENT_CALL))
    budget = agreed(state).get("agent_calls")
    return bool(budget is None or made + more <= budget)
def spent(name, state):
    budget = agreed(state)["agent_calls"]
    return f"{name}: the budget of {budget} calls of agents is spent; `resume --agent-calls NUMBER` goes on"

class Budget(OfMore):
    options = (("run resume", "--agent-calls", "NUMBER", "how many calls of agents the whole run may make"),)
    def record(self, record):
        calls = calls_of(self.session.state.notes) if record.get("kind") == "done" else {}
        return {**record, "calls": dict(calls)} if calls else record
    def stand(self, move, before, stand):
        node = self.session.program["nodes"][move.node]
        due = len(node["entries"]) if node["task"] == "parallel" else node["task"] == "agent"
        if before is None or not due or may_call(before, due):
            return stand
        message = self.session.through("worded", spent(move.node, before))
        return {"condition": "stop", "message": message, "spent": True}
    def resumed(self):
        state = self.session.state
        is_spent = state.condition == "stop" and state.finished and state.finished[-1].get("spent")
        if is_spent and may_call(state, 1):
            self.session.record({"kind": "again", "condition": "ready"})

class Caller(Asking, Prompting):
    recovers = True
    asks = False
    retries = 0
    needs_words = True  # whether an answer without anything in it is none
    def converse(self, node, calls):
        found = {}
        while True:
            self._pause()
            due = [index for index in range(len(calls)) if index not in found or self._failed(found[index])]
            self.count(calls, due)
            answers = self.call(node, [calls[index] for index in due])
            found.update(zip(due, answers))  # Python 3.9 has no `strict`
            failed = [index for index in due if self._failed(found[index])]
            if not failed or self._tries() >= self.retries or not self._may_call(len(failed)):
                return [found[index] for index in range(len(calls))]
            self._try_again(", ".join(f"{calls[at][0]}: {found[at].trouble or 'an empty answer'}" for at in failed))
    def call(self, node, calls):
        return super().converse(node, calls)
    def key(self, name, _what):
        raise NotImplementedError
    def variables(self, name, what):
        node, now = self.session.program["nodes"][self.session.state.node], self.session.state.registers
        return {**super().variables(name, what), "RDC_ATTEMPT": str(attempt_of(node, now) + self._tries())}
    def _failed(self, answered):
        return not answer_of(answered) if self.needs_words else bool(answered.trouble)
    def _tries(self):
        return sum(note["kind"] == "tried" for note in self.session.state.notes)
    def _may_call(self, number):
        return self.noun == "tool" or may_call(self.session.state, number)
    def count(self, calls, due):
        session = self.session
        if not self._may_call(len(due)):
            session.rest()
            raise RefusedError(spent(session.state.node, session.state))
        for index in due:
            name, what, _, _ = calls[index]
            session.record({"kind": "call", "call": self.key(name, what)}, sync=index == due[-1])
    def _try_again(self, trouble):
        session, seconds = self.session, FIRST_PAUSE * 2 ** self._tries()
        session.display.line(f"    {one_line(trouble)}; trying again in {duration(seconds)}")
        session.rest()
        session.record({"kind": "tried", "how": trouble, "until": time.time() + seconds})
    def _pause(self):
        session = self.session
        tried = [note["until"] for note in session.state.notes if note["kind"] == "tried"]
        left = min(tried[-1] - time.time(), FIRST_PAUSE * 2.0 ** len(tried)) if tried else 0.0
        if left > 0:
            with session.signals:
                time.sleep(left)
        session.heed()
        if session.state.condition == "ready":
            session.record({"kind": "again", "condition": "running"})
    def by_hand(self, name, given):
        session = self.session
        session.record({"kind": "wait", "condition": "waiting"})
        for line in clean(given).splitlines():
            session.display.line(f"    {line}".rstrip())
        done = self.at_terminal(name, session.label(session.state.node)) if session.is_interactive else None
        if done is None:
            raise self.not_called(name)
        return done
    def at_terminal(self, name, label):
        prompt = f"{label}: your answer (end it with Ctrl-D)\n"
        return asked(self.session, prompt, lambda reply: self.given(name, reply, "answered here"), lambda _line: True)
    def not_called(self, name):
        call, node = self.session.call, self.session.program["nodes"][self.session.state.node]
        return Waiting(
            f"to answer: {answering(self.session, name, '-')}",
            f"to continue: {call('resume')}",
            f"to call {self.remedy(node)[0]}: {call('resume', *self.remedy(node)[1:])}",
        )
    def remedy(self, _node):
        return "an agent", "--agent", "COMMAND"
    def preview(self, name, _node):
        return self.from_file(name) or Done(self.first_word(name), "assumed")
    def first_word(self, name):
        node = self.session.program["nodes"][name]
        words = node.get("words", ["pass"])
        return next(word for word in words if word not in (node.get("excused") or node.get("unanimous") or ()))
    @staticmethod
    def replies(_node):
        return ["-"]

