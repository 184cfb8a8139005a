# --- Gates: a person lets the run through, or not (I15).
DECIDED = ("approved", "rejected")

class Gates(Asking):  # Waits at gates. A line of a file of answers that names no step opens none.
    keys = ("reason",)
    asks = False
    def perform(self, name, node):  # Say why the run waits, and get the decision.
        session = self.session
        for line in session.texts(node, "reason"):
            session.display.line(line)
        session.heed()
        done = self.from_file(name)
        if done is not None:
            return done
        choice = None
        if session.is_interactive:
            choice = session.ask(f"{session.label(name)}: let the run through?", "/".join(DECIDED))
        if choice is None:
            raise self.wait(name, node)
        return Done(choice, "decided here")
    def preview(self, name, _node):  # Take the decision of the file, or else let it through.
        return self.from_file(name) or Done(DECIDED[0], "assumed")
    def given(self, _name, reply, how):  # Read approved or rejected.
        if reply.strip().lower() not in DECIDED:
            raise RefusedError(f"{one_line(reply)}: expected approved or rejected")
        return Done(reply.strip().lower(), how)
    @staticmethod
    def replies(_node):  # Return the two decisions.
        return list(DECIDED)

PERFORMERS["gate"] = Gates

