"""Questions, answered from a file, at the terminal, or later with `answer`."""

from collections.abc import Sequence

from runtime_shim.engine.display import meanings_of
from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Done, Waiting
from runtime_shim.engine.program import EXIT_COMPLETE, Table, UsageError
from runtime_shim.engine.session import Extension, Performer, Session
from runtime_shim.engine.state import ENDED, State, digest
from runtime_shim.engine.status import condition_of, hints, told_by
from runtime_shim.engine.texts import MEANINGS, meant, one_line, word_of, words_of
from runtime_shim.engine.times import readable
from runtime_shim.io.answers import LARGEST, read_answers, read_lines, read_text, take_answer

ITEM = "--item "  # the start of a reply to an item of a checklist


class Asking(Performer):
    """Runs steps that a person answers."""

    keys: tuple[str, ...] = ("prompt", "block")
    recovers = False
    asks = True  # whether an answer without a step may be for it

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.source: Record = {}  # the line of the last reply from the file of answers

    def perform(self, name: str, node: Table) -> Done:
        """Show the question and get the reply."""
        session = self.session
        for line in (*session.gathered("above"), *self.shown(node)):
            session.display.line(line)
        session.check_stop()
        done = self.from_file(name) or (self.ask_here(name, node) if session.is_interactive else None)
        if done is None:
            raise Waiting(*hints(session, "waiting"))
        return done

    def preview(self, name: str, node: Table) -> Done:
        """Return the answer from the file, or the first outcome."""
        return self.from_file(name) or Done(words_of(node)[0], "assumed")

    def shown(self, node: Table) -> list[str]:
        """Return the lines of the question."""
        return [line for key in self.keys for line in self.session.texts(node, key)]

    def ask_here(self, _name: str, _node: Table) -> "Done | None":
        """Ask at the terminal; return None if the person leaves it for later."""
        return None

    def take(self, name: str) -> "str | None":
        """Take the reply to a step from the file of answers, if any."""
        mark, left = self.session.answers
        answer = take_answer(left, name, self.asks)
        self.source = {} if answer is None else {"answers": mark, "line": answer.line}
        return answer and answer.reply

    def from_file(self, name: str) -> "Done | None":
        """Return the outcome by the reply in the file of answers, if any."""
        if (reply := self.take(name)) is None:
            return None
        where = f"line {self.source['line']} of {self.session.options.answers}"
        try:
            done = self.given(name, reply, one_line(f"answered by {where}"))
        except UsageError as error:
            self.session.rest()
            raise UsageError(f"{where}: {error}") from None
        return done._replace(note=self.source) if done is not None else None


class Prompts(Asking):
    """Runs steps that ask pass or fail, or yes or no."""

    def ask_here(self, name: str, node: Table) -> "Done | None":
        """Ask for one of the step's two words."""
        text = self.session.label(name)
        if not text.endswith(("?", ".", ":")):
            text = f"{text}:" if node["question"] == "yes/no" else f"Did {text} pass?"
        choice = self.session.ask(text, node["question"])
        return None if choice is None else self.given(name, choice, "answered here")

    def given(self, _name: str, reply: str, how: str) -> Done:
        """Return the outcome of pass, fail, yes or no, or of a short reply."""
        choices = self.session.program["nodes"][self.session.state.node].get("question", "pass/fail")
        outcome = meanings_of(choices).get(word := reply.strip().lower())
        if outcome is None:
            raise UsageError(f"{one_line(reply)}: expected pass, fail, yes or no{meant(word, MEANINGS)}")
        text = reply if word in MEANINGS else choices.split("/")[outcome == "fail"]
        return self.session.with_text(Done(outcome, how), text)

    @staticmethod
    def replies(node: Table) -> list[str]:
        """Return the step's two words."""
        return str(node["question"]).split("/")


def last_end(session: Session, step: str, finished: "Sequence[Record]") -> str:
    """Return how a step ended last, who decided that and when, as the end of a message; "" if it has not ended."""
    for one in [one for one in finished if one["node"] == step][-1:]:
        word = word_of(session.program["nodes"].get(step, {}), one["outcome"])
        about = (f"; {step} ended with {word}", one["how"], readable(one.get("time")), told_by(one))
        return one_line(", ".join(filter(None, about)))
    return ""


def answer(session: Session, shows: bool = True) -> int:
    """Record the answer to the waiting step, and show how to go on."""
    step, reply = session.options.STEP, session.through("reply", session.options.REPLY)
    [session.alone, *session.at("enter")][-1]()
    session.take(session.read())
    state = session.state
    if not session.is_same(state):  # `--adopt` has accepted it
        session.adopt()
    session.store.open()
    session.each("allowed")
    late = last_end(session, step, state.finished)
    if state.condition != "waiting":
        raise UsageError(*hints(session, condition_of(state, False)), f"no step is waiting for an answer{late}")
    performer, node = session.performers[state.node], session.program["nodes"][state.node]
    if not performer.is_named(step, state.node, node):
        names = " or ".join(performer.names(state.node, node))
        raise UsageError(f"{step} is not waiting for an answer; {names} is{late}")
    done = session.through("given", performer.given(step, reply, "answered"))
    if done is not None:
        session.settle(state.node, done, 0.0, begins=False)
    remarks = session.gathered("decided")
    if session.lender:
        session.display.rule(f"the run continues at its terminal ({session.lender})")
    elif shows and not getattr(session.options, "resume", False):
        following = [] if state.condition in ENDED else hints(session, "ready" if done else "waiting")
        session.display.rule(*("".join([line, *session.each("hint")]) for line in (*remarks, *following)))
        if state.condition in ENDED:
            session.finish()
    return EXIT_COMPLETE


class Answers(Extension):
    """Takes replies from the file of answers, each only once in a run."""

    options = (("answer approve", "--resume", "", "continue the run at once"),)

    def before_run(self, _state: "State | None") -> None:
        """Read the file of answers, if any."""
        if (path := self.session.options.answers) is not None:
            text = read_text(path, LARGEST)
            self.session.answers = digest(text), text

    def open(self) -> None:
        """Find the answers of the file that the run has not used."""
        session, path, used = self.session, self.session.options.answers, self.session.state.used
        if path is None:
            return
        mark, text = session.answers
        found = read_answers(path, text, session.program["nodes"], [read_lines, *session.at("answers_in")][-1])
        session.answers = mark, [each for each in found if (mark, each.line) not in used]
        if used and mark not in dict(used):
            session.display.rule(f"{path} has changed since the last call; all its lines count as unused")
