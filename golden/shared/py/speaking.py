# --- Steps that give a text to a process and take its answer, or to a person where there is no process to call (I11).
class Speaking(Asking, Trying):
    recovers = True
    asks = False
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
        while True:
            reply = typed(self.session.display, self.session.signals, f"{label}: your answer", True)
            try:
                return None if reply is None else self.given(name, reply, "answered here")
            except RefusedError as error:
                self.session.display.line(f"    {error}")
    def not_called(self, name):
        call, node = self.session.call, self.session.program["nodes"][self.session.state.node]
        return Waiting(
            f"to answer: {call('answer', name, '-')} < FILE",
            f"to go on:  {call('resume')}   (or {call('resume')} {self.option(node)})",
        )
    def option(self, _node):
        return "--agent COMMAND"
    def preview(self, name, _node):
        return self.from_file(name) or Done(self._first(name), "assumed")
    def _first(self, name):
        node = self.session.program["nodes"][name]
        words = node.get("words", ["pass"])
        return next(word for word in words if word not in (node.get("excused") or node.get("unanimous") or ()))
    @staticmethod
    def replies(_node):
        return ["-"]

