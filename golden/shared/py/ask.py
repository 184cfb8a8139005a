# --- Prompts: answered by a file of answers, by the person at the terminal, or later by `answer` (M3).
class Answers:
    def __init__(self, path, nodes, used, read):
        text = read_text(path, LARGEST)
        self.digest = digest(text)
        self.is_another = bool(used) and self.digest not in dict(used)
        answers = checked_answers(path, read(text, nodes))
        self._left = [answer for answer in answers if (self.digest, answer.line) not in used]
    def take(self, node, is_asking=True):
        return take_answer(self._left, node, is_asking)

class Asking(Performer):
    keys = ("prompt", "block")
    recovers = False
    asks = True  # whether it takes an answer that names no step
    def from_file(self, name):
        answers = self.session.answers
        answer = answers.take(name, self.asks) if answers is not None else None
        if answers is None or answer is None:
            return None
        note = {"answers": answers.digest, "line": answer.line}
        where = f"line {answer.line} of {self.session.options.answers}"
        try:
            done = self.given(name, answer.reply, one_line(f"answered by {where}"))
        except RefusedError as error:
            self.session.rest()
            raise RefusedError(f"{where}: {error}") from None
        return done._replace(note=note) if done is not None else None
    def wait(self, name, node):
        session = self.session
        first, *others = self.replies(node)
        return Waiting(
            f"to answer: {session.call('answer', name, first)}" + "".join(f"   (or {other})" for other in others),
            f"to go on:  {session.call('resume')}",
        )

class Prompts(Asking):
    def perform(self, name, node):
        session = self.session
        for line in session.texts(node, "prompt") + session.texts(node, "block"):
            session.display.line(line)
        session.heed()
        done = self.from_file(name)
        if done is not None:
            return done
        if session.is_interactive:
            text = session.label(name)
            if not text.endswith(("?", ".", ":")):
                text = f"{text}:" if node["question"] == "yes/no" else f"Did {text} pass?"
            choice = session.ask(text, node["question"])
            if choice is not None:
                return session.told(Done(choice, "answered here"), choice)
        raise self.wait(name, node)
    def preview(self, name, node):
        return self.from_file(name) or super().preview(name, node)
    def given(self, _name, reply, how):
        outcome = MEANINGS.get(reply.lower())
        if outcome is None:
            raise RefusedError(f"{one_line(reply)}: expected pass, fail, yes or no")
        return self.session.told(Done(outcome, how), reply)
    @staticmethod
    def replies(node):
        words = node["question"].split("/")
        return words

def answer(session):
    node, reply = session.options.STEP, session.options.REPLY
    reply = session.through("reply", reply)
    session.alone()
    session.take(session.read())
    state = session.state
    if state.condition != "waiting":
        raise RefusedError("no step waits for an answer")
    performer = session.performers[state.node]
    if not performer.is_named(node, state.node, session.program["nodes"][state.node]):
        raise RefusedError(f"{state.node} waits for an answer, {node} does not")
    session.store.open()
    done = performer.given(node, reply, "answered")
    done = session.through("given", done)
    if done is not None:
        session.settle(state.node, done, 0.0, begins=False)
    if state.condition == "stop":
        session.display.rule(f"to {how_again(session)}")
        session.display.rule(f"STOP {one_line(state.message)}".rstrip())
        return EXIT_COMPLETE
    hints = (hint() for hint in session.at("hint"))
    session.display.rule("".join([f"to go on: {session.call('resume')}", *hints]))
    return EXIT_COMPLETE

def how_again(session):
    if "contract" not in session.program:
        return f"start a new run: {session.call('run')}"
    is_rejected = session.state.finished[-1]["outcome"] == "rejected"
    return f"{'ask for this approval' if is_rejected else 'try'} again: {session.call('resume')}"

ANSWER = (
    ("answer", "STEP", "", "the step that waits"),
    ("answer", "REPLY", "", "pass, fail, yes or no, or what the step asks for"),
)

class Asks(Extension):
    commands = {"answer": ("answer the step that waits", answer)}
    options = ANSWER
    performers = {"ask": Prompts}
    def open(self):
        session, path = self.session, self.session.options.answers
        if path is None:
            return
        read = [read_lines, *session.at("answers_in")][-1]
        session.answers = Answers(path, session.program["nodes"], session.state.used, read)
        if session.answers.is_another:
            session.display.rule(f"{path}: not the answers used before; all of its lines count as unused")
    def answers(self, node, name):
        performer, call = self.session.kinds[node["task"]], self.session.call
        return [call("answer", one, reply) for one in performer.names(name, node) for reply in performer.replies(node)]

