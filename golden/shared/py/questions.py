# --- Questions: answered by a file of answers, by the person at the terminal, or later by `answer`.
class Asking(Performer):
    keys = ("prompt", "block")
    recovers = False
    asks = True  # whether it takes an answer that names no step
    def perform(self, name, node):
        session = self.session
        for line in self.shown(node):
            session.display.line(line)
        session.heed()
        done = self.from_file(name) or (self.ask_here(name, node) if session.is_interactive else None)
        if done is None:
            raise Waiting(*hints(session, "waiting"))
        return done
    def preview(self, name, node):
        return self.from_file(name) or Done(words_of(node)[0], "assumed")
    def shown(self, node):
        return [line for key in self.keys for line in self.session.texts(node, key)]
    def take(self, name):
        mark, left = self.session.answers
        answer = take_answer(left, name, self.asks)
        return (None, {}) if answer is None else (answer.reply, {"answers": mark, "line": answer.line})
    def from_file(self, name):
        reply, note = self.take(name)
        if reply is None:
            return None
        where = f"line {note['line']} of {self.session.options.answers}"
        try:
            done = self.given(name, reply, one_line(f"answered by {where}"))
        except RefusedError as error:
            self.session.rest()
            raise RefusedError(f"{where}: {error}") from None
        return done._replace(note=note) if done is not None else None

class Prompts(Asking):
    def ask_here(self, name, node):
        text = self.session.label(name)
        if not text.endswith(("?", ".", ":")):
            text = f"{text}:" if node["question"] == "yes/no" else f"Did {text} pass?"
        choice = self.session.ask(text, node["question"])
        return None if choice is None else self.given(name, choice, "answered here")
    def given(self, _name, reply, how):
        if reply.lower() not in MEANINGS:
            raise RefusedError(f"{one_line(reply)}: expected pass, fail, yes or no")
        return self.session.told(Done(MEANINGS[reply.lower()], how), reply)
    @staticmethod
    def replies(node):
        return str(node["question"]).split("/")
def answer(session):
    step, reply = session.options.STEP, session.through("reply", session.options.REPLY)
    session.alone()
    session.take(session.read())
    state = session.state
    if state.condition != "waiting":
        raise RefusedError("no step waits for an answer")
    performer = session.performers[state.node]
    if not performer.is_named(step, state.node, session.program["nodes"][state.node]):
        raise RefusedError(f"{state.node} waits for an answer, {step} does not")
    session.store.open()
    done = session.through("given", performer.given(step, reply, "answered"))
    if done is not None:
        session.settle(state.node, done, 0.0, begins=False)
    is_stopped = state.condition == "stop"
    for line in hints(session, "stop" if is_stopped else "ready"):
        session.display.rule("".join([line, *session.each("hint")]))
    if is_stopped:
        session.display.rule(f"STOP {one_line(state.message)}".rstrip())
    return EXIT_COMPLETE

class Tasks(Extension):
    performers = {"shell": Commands, "ask": Prompts}
    def open(self):
        session, path, used = self.session, self.session.options.answers, self.session.state.used
        if path is None:
            return
        text = read_text(path, LARGEST)
        read, mark = [read_lines, *session.at("answers_in")][-1], digest(text)
        found = read_answers(path, text, session.program["nodes"], read)
        session.answers = mark, [each for each in found if (mark, each.line) not in used]
        if used and mark not in dict(used):
            session.display.rule(f"{path}: other answers than before; all of its lines count as unused")

