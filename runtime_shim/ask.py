"""Prompts: answered by a file of answers, by the person at the terminal, or later (M3)."""

from typing import Optional

from runtime_shim.display import one_line
from runtime_shim.program import Table
from runtime_shim.session import PERFORMERS, Done, Performer, Waiting


class Prompts(Performer):
    """Gets the answers of units that ask."""

    def perform(self, name: str, unit: Table) -> Done:
        """Show a prompt and get its answer."""
        session = self.session
        for line in session.texts(unit, "prompt") + session.texts(unit, "block"):
            session.display.line(line)
        session.heed()
        done = self._from_file(name)
        if done is not None:
            return done
        if session.is_interactive:
            text = session.label(name)
            if not text.endswith(("?", ".", ":")):
                text = f"{text}:" if unit["question"] == "yes/no" else f"Did {text} pass?"
            choice = session.ask(text, unit["question"])
            if choice is not None:
                return Done(choice, "answered here")
        good, bad = unit["question"].split("/")
        raise Waiting(
            f"to answer: {session.call('answer', name, good)}   (or {bad})",
            f"to go on:  {session.call('resume')}",
        )

    def rehearse(self, name: str, unit: Table) -> Done:
        """Take the answer of the file, or else the good one."""
        return self._from_file(name) or super().rehearse(name, unit)

    def _from_file(self, name: str) -> Optional[Done]:
        answers = self.session.answers
        answer = answers.take(name) if answers is not None else None
        if answers is None or answer is None:
            return None
        note = {"answers": answers.digest, "line": answer.line}
        how = f"answered by line {answer.line} of {self.session.options.answers}"
        return Done(answer.outcome, one_line(how), note)


PERFORMERS["ask"] = Prompts
