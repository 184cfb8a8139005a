"""Prompts: answered by a file of answers, by the person at the terminal, or later (M3)."""

from __future__ import annotations

from typing import Optional

from runtime_shim.answers import Answers
from runtime_shim.display import clean, one_line
from runtime_shim.program import Table
from runtime_shim.session import PERFORMERS, Done, Performer, Session, Waiting
from runtime_shim.walk import filled


class Prompts(Performer):
    """Gets the answers of units that ask."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._answers: Optional[Answers] = None
        if session.options.answers is not None:
            self._answers = Answers(session.options.answers, session.program["units"])
            self._answers.forget_used(session.state.finished)

    def perform(self, name: str, unit: Table) -> Done:
        """Show a prompt and get its answer."""
        session = self.session
        self._show(unit)
        done = self._from_file(name)
        if done is not None:
            return done
        label = session.label(name)
        if session.is_interactive:
            text = label + ":" if unit["question"] == "yes/no" else f"Did {label} pass?"
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
        answer = self._answers.take(name) if self._answers is not None else None
        if self._answers is None or answer is None:
            return None
        note = {"answers": self._answers.digest, "line": answer.line}
        how = f"answered by line {answer.line} of {self.session.options.answers}"
        return Done(answer.outcome, one_line(how), note)

    def _show(self, unit: Table) -> None:
        registers = self.session.state.registers
        for part in (unit.get("prompt", ""), unit.get("block", "")):
            for line in clean(filled(unit, part, registers)).strip("\n").splitlines():
                self.session.display.line(f"    {line}".rstrip())


PERFORMERS["ask"] = Prompts
