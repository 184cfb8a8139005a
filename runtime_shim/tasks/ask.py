"""Prompts: answered by a file of answers, by the person at the terminal, or later by `answer` (M3)."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Callable, Optional, Union

from runtime_shim.engine.lifecycle import Done, Extension, Options, Performer, Waiting
from runtime_shim.engine.program import EXIT_COMPLETE, RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import digest
from runtime_shim.engine.texts import MEANINGS, one_line
from runtime_shim.tasks.answers import LARGEST, Answer, Problem, checked_answers, read_lines, read_text, take_answer

Reader = Callable[[str, dict[str, Table]], Iterator[Union[Answer, Problem]]]


class Answers:
    """The answers of a file that are still to be given, in order: not those that the run has used."""

    def __init__(self, path: str, nodes: dict[str, Table], used: Collection[tuple[str, int]], read: Reader) -> None:
        text = read_text(path, LARGEST)
        self.digest = digest(text)
        self.is_another = bool(used) and self.digest not in dict(used)
        answers = checked_answers(path, read(text, nodes))
        self._left = [answer for answer in answers if (self.digest, answer.line) not in used]

    def take(self, node: str, is_asking: bool = True) -> Optional[Answer]:
        """Return the next answer for a step, its own before a common one."""
        return take_answer(self._left, node, is_asking)


class Asking(Performer):
    """Does steps that somebody answers."""

    keys: tuple[str, ...] = ("prompt", "block")
    recovers = False
    asks = True  # whether it takes an answer that names no step

    if TYPE_CHECKING:

        @staticmethod
        def replies(node: Table) -> list[str]:
            """Return the replies that answer a step."""

        def given(self, name: str, reply: str, how: str) -> Optional[Done]:
            """Read the reply to a step; None if the step needs further ones."""

    @staticmethod
    def names(name: str, _node: Table) -> list[str]:
        """Return the names under which a step is answered."""
        return [name]

    def is_named(self, said: str, name: str, node: Table) -> bool:
        """Tell whether an operator's word names a step."""
        return said in self.names(name, node)

    def from_file(self, name: str) -> Optional[Done]:
        """Take the answer of a step from the file of answers, if that has one."""
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

    def wait(self, name: str, node: Table) -> Waiting:
        """Leave a step to be answered later."""
        session = self.session
        first, *others = self.replies(node)
        return Waiting(
            f"to answer: {session.call('answer', name, first)}" + "".join(f"   (or {other})" for other in others),
            f"to go on:  {session.call('resume')}",
        )


class Prompts(Asking):
    """Gets the answers of steps that ask."""

    def perform(self, name: str, node: Table) -> Done:
        """Show a prompt and get its answer."""
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

    def preview(self, name: str, node: Table) -> Done:
        """Take the answer of the file, or else the good one."""
        return self.from_file(name) or super().preview(name, node)

    def given(self, _name: str, reply: str, how: str) -> Done:
        """Read pass, fail, yes or no."""
        outcome = MEANINGS.get(reply.lower())
        if outcome is None:
            raise RefusedError(f"{one_line(reply)}: expected pass, fail, yes or no")
        return self.session.told(Done(outcome, how), reply)

    @staticmethod
    def replies(node: Table) -> list[str]:
        """Return the two words of its question."""
        words: list[str] = node["question"].split("/")
        return words


def answer(session: Session) -> int:
    """Record the answer of the step that waits."""
    node, reply = session.options.STEP, session.options.REPLY
    reply = session.through("reply", reply)
    session.alone()
    session.take(session.read())
    state = session.state
    performer = session.performers.get(state.node)
    if state.condition != "waiting" or not isinstance(performer, Asking):
        raise RefusedError("no step waits for an answer")
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
    session.display.rule("".join([f"to go on: {session.call('resume')}", *session.each("hint")]))
    return EXIT_COMPLETE


def how_again(session: Session) -> str:
    """Say what can be done about a run that ended by STOP, and with which command."""
    if "contract" not in session.program:
        return f"start a new run: {session.call('run')}"
    is_rejected = session.state.finished[-1]["outcome"] == "rejected"
    return f"{'ask for this approval' if is_rejected else 'try'} again: {session.call('resume')}"


ANSWER: Options = (
    ("answer", "STEP", "", "the step that waits"),
    ("answer", "REPLY", "", "pass, fail, yes or no, or what the step asks for"),
)


class Asks(Extension):
    """Steps that somebody answers; where a person does the commands, too, these are any steps."""

    commands = {"answer": ("answer the step that waits", answer)}
    options = ANSWER
    performers = {"ask": Prompts}

    def open(self) -> None:
        """Read the file of answers, if one was named."""
        session, path = self.session, self.session.options.answers
        if path is None:
            return
        read = [read_lines, *session.at("answers_in")][-1]
        session.answers = Answers(path, session.program["nodes"], session.state.used, read)
        if session.answers.is_another:
            session.display.rule(f"{path}: not the answers used before; all of its lines count as unused")

    def answers(self, node: Table, name: str) -> list[str]:
        """Return the commands that answer a step."""
        performer, call = self.session.kinds[node["task"]], self.session.call
        if not issubclass(performer, Asking):
            return []
        return [call("answer", one, reply) for one in performer.names(name, node) for reply in performer.replies(node)]
