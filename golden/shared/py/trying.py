# --- Calls that are counted, and made again where they fail and the operator allows that.
FIRST_PAUSE = 2  # seconds; each further pause is twice as long

class Trying(Conversing):
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
        budget = agreed(self.session.state).get("agent_calls")
        return budget is None or self.noun == "tool" or agents_in(tally(self.session.state)) + number <= budget
    def count(self, calls, due):
        session = self.session
        if not self._may_call(len(due)):
            session.rest()
            raise RefusedError(spent(session.state.node, agreed(session.state)["agent_calls"]))
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
            with session.signals.listening():
                time.sleep(left)
        session.heed()
        if session.state.condition == "ready":
            session.record({"kind": "again", "condition": "running"})

