"""Prompts: answered by a file of answers, by the person at the terminal, or later (M3)."""

from typing import Optional

from runtime_shim.engine.dialog import MEANINGS
from runtime_shim.engine.display import one_line
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import PERFORMERS, Done, Performer, Waiting, told


class Asking(Performer):
    """Does steps that somebody answers."""

    keys: tuple[str, ...] = ("prompt", "block")
    recovers = False
    asks = True  # whether it takes an answer that names no step

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
                return told(Done(choice, "answered here"), choice)
        raise self.wait(name, node)

    def preview(self, name: str, node: Table) -> Done:
        """Take the answer of the file, or else the good one."""
        return self.from_file(name) or super().preview(name, node)

    def given(self, _name: str, reply: str, how: str) -> Done:
        """Read pass, fail, yes or no."""
        outcome = MEANINGS.get(reply.lower())
        if outcome is None:
            raise RefusedError(f"{one_line(reply)}: expected pass, fail, yes or no")
        return told(Done(outcome, how), reply)

    @staticmethod
    def replies(node: Table) -> list[str]:
        """Return the two words of its question."""
        words: list[str] = node["question"].split("/")
        return words


PERFORMERS["ask"] = Prompts
