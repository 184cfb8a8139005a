"""Questions, answered from a file, at the terminal, or later with `answer`."""

from contextlib import suppress
from typing import Any

from runtime_shim.engine.display import forget_typed, replies_to
from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Answered, Done, Waiting
from runtime_shim.engine.program import EXIT_COMPLETE, BusyError, Table, UsageError
from runtime_shim.engine.session import Extension, Performer, Session
from runtime_shim.engine.state import State, digest, shown_holder, user
from runtime_shim.engine.status import hints
from runtime_shim.engine.texts import MEANINGS, meant, one_line, word_of, words_of
from runtime_shim.io.answers import LARGEST, read_answers, read_lines, read_text, take_answer

# What an event shows of a record.
EVENT = ("node", "title", "attempt", "instances", "outcome", "how", "says", "seconds", "next", "remarks")


class Asking(Performer):
    """Runs steps that a person answers."""

    keys: tuple[str, ...] = ("prompt", "block")
    recovers = False
    asks = True  # whether an answer without a step may be for it

    def perform(self, name: str, node: Table) -> Done:
        """Show the question and get the reply."""
        session = self.session
        for line in self.shown(node):
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

    def take(self, name: str) -> "tuple[str | None, Record]":
        """Take the reply to a step from the file of answers, if any, with a note for the journal."""
        mark, left = self.session.answers
        answer = take_answer(left, name, self.asks)
        return (None, {}) if answer is None else (answer.reply, {"answers": mark, "line": answer.line})

    def from_file(self, name: str) -> "Done | None":
        """Return the outcome by the reply in the file of answers, if any."""
        reply, note = self.take(name)
        if reply is None:
            return None
        where = f"line {note['line']} of {self.session.options.answers}"
        try:
            done = self.given(name, reply, one_line(f"answered by {where}"))
        except UsageError as error:
            self.session.rest()
            raise UsageError(f"{where}: {error}") from None
        return done._replace(note=note) if done is not None else None


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
        outcome = replies_to(choices).get(word := reply.strip().lower())
        if outcome is None:
            raise UsageError(f"{one_line(reply)}: expected pass, fail, yes or no{meant(word, MEANINGS)}")
        text = reply if word in MEANINGS else choices.split("/")[outcome == "fail"]
        return self.session.with_text(Done(outcome, how), text)

    @staticmethod
    def replies(node: Table) -> list[str]:
        """Return the step's two words."""
        return str(node["question"]).split("/")


def entered(session: Session) -> str:
    """Lock the run. If a terminal has it and asks there, borrow it and return who lends it; otherwise return ""."""
    try:
        session.alone()
    except BusyError as error:
        busy = error
    else:
        return ""
    asked, who, is_lent = session.read_state(), shown_holder(session.store.holder()), False
    if asked is None or asked.condition != "waiting" or not session.is_same(asked):
        raise busy
    with suppress(BusyError):
        is_lent = session.store.take_turn()
    now: Any = session.read_state()
    if len(now.finished) != len(asked.finished):
        raise UsageError(f"{asked.node} is not waiting for an answer{answered_before(now, asked.node)}")
    if not is_lent:
        raise UsageError(f"{busy.args[0]}, or answer there")
    return who


def answered_before(state: State, step: str) -> str:
    """Return who answered a step last and when, as far as it is known, to follow an error."""
    for done in [one for one in state.finished if one["node"] == step][-1:]:
        keys = {"by": " by {}", "time": " at {}", "outcome": ": {}"}
        return "; it was answered" + "".join(keys[key].format(one_line(str(done[key]))) for key in keys if key in done)
    return ""


def follow_answers(session: Session) -> None:
    """Let other processes answer the question that waits at this terminal; raise Answered if one has done it."""
    state, display = session.state, session.display
    news = session.store.lend() if state.condition == "waiting" and session.store.is_wanted() else ()
    for record in news:
        node = session.program["nodes"][state.node]
        state.apply(record)
        session.each("written", record)
        if "by" not in record:
            continue
        display.line()
        word, style = word_of(node, record.get("outcome", "")), record.get("outcome", "")
        said = one_line(f"answered by {': '.join(filter(None, [record['by'], record.get('note')]))}")
        display.line(f"    {display.paint(word, style)}  {display.paint(said, 'dim')}")
        if record["kind"] == "done":
            session.emit("step_finished", True, **{key: record[key] for key in EVENT if key in record})
    if news:
        forget_typed()
        raise Answered


def answer(session: Session, shows: bool = True) -> int:
    """Record the answer to the waiting step, and show how to go on."""
    step, reply = session.options.STEP, session.through("reply", session.options.REPLY)
    session.lender = entered(session)
    session.take(session.read())
    state = session.state
    if not session.is_same(state):  # `--adopt` has accepted it
        session.adopt()
    if state.condition != "waiting":
        raise UsageError(f"no step is waiting for an answer{answered_before(state, step)}")
    performer, node = session.performers[state.node], session.program["nodes"][state.node]
    if not performer.is_named(step, state.node, node):
        names = performer.names(state.node, node)
        waits = f"{' or '.join(names)} is"
        raise UsageError(f"{step} is not waiting for an answer; {waits}{answered_before(state, step)}")
    session.store.open()
    done = session.through("given", performer.given(step, reply, "answered"))
    if done is not None:
        note = {**(done.note or {}), "by": user()} if session.lender else done.note
        session.settle(state.node, done._replace(note=note), 0.0, begins=False)
    if session.lender:
        session.display.rule(f"the run continues at its terminal ({session.lender})")
        return EXIT_COMPLETE
    is_stopped, shows = state.condition == "stop", shows and not getattr(session.options, "resume", False)
    for line in hints(session, "stop" if is_stopped else "ready") if shows else ():
        session.display.rule("".join([line, *session.each("hint")]))
    if is_stopped and shows:
        session.display.rule(f"STOP {one_line(state.message)}".rstrip())
    return EXIT_COMPLETE


class Answers(Extension):
    """Takes replies from the file of answers, each only once in a run, and from other processes."""

    options = (("answer approve", "--resume", "", "continue the run at once"),)

    def before_run(self, _state: "State | None") -> None:
        """Read the file of answers, if any."""
        if (path := self.session.options.answers) is not None:
            text = read_text(path, LARGEST)
            self.session.answers = digest(text), text

    def before_step(self, _name: str) -> None:
        """While this step asks at the terminal, let other processes answer it."""
        self.session.display.idle = lambda: follow_answers(self.session)

    def open(self) -> None:
        """Find the answers of the file that the run has not used."""
        session, path, used = self.session, self.session.options.answers, self.session.state.used
        if path is None:
            return
        read, (mark, text) = [read_lines, *session.at("answers_in")][-1], session.answers
        found = read_answers(path, text, session.program["nodes"], read)
        session.answers = mark, [each for each in found if (mark, each.line) not in used]
        if used and mark not in dict(used):
            session.display.rule(f"{path} has changed since the last call; all its lines count as unused")
