"""Calls of agents and tools: recorded, made again where they fail, or answered by a person (I11)."""

import time
from typing import TYPE_CHECKING, Optional

from runtime_shim.data.settings import may_call, spent
from runtime_shim.engine.lifecycle import Done, Waiting
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.texts import clean, duration, one_line
from runtime_shim.engine.walk import attempt_of
from runtime_shim.tasks.ask import Asking
from runtime_shim.tasks.exchange import Answered
from runtime_shim.tasks.prompting import Calls, Prompting, answer_of
from runtime_shim.tasks.terminal import asked

FIRST_PAUSE = 2  # seconds; each further pause is twice as long


class Caller(Asking, Prompting):
    """Does steps that an agent or a tool answers, or a person in its place."""

    recovers = True
    asks = False
    retries = 0
    needs_words = True  # whether an answer without anything in it is none

    if TYPE_CHECKING:

        def command_of(self, what: Table) -> Optional[str]:
            """Return the command that answers a step or an entry; None if a person does."""

        def text_for(self, node: Table, what: Table) -> str:
            """Return the text that the command gets."""

        def outcome(self, node: Table, answer: Optional[str], how: str) -> Done:
            """Return the outcome of a step by its answer."""

        def key(self, name: str, what: Table) -> str:
            """Return what a call is counted as."""

    def perform(self, name: str, node: Table) -> Done:
        """Take the answer of the command, unless a file or a person gives one."""
        given, done = self.text_for(node, node), self.from_file(name)
        if done is not None:
            return done
        command = self.command_of(node)
        if command is None:
            return self.by_hand(name, given)
        (answered,) = self.converse(node, [(name, node, command, given)])
        how = answered.trouble or ("an empty answer" if self._failed(answered) else "")
        return self.outcome(node, answer_of(answered), how)

    def converse(self, node: Table, calls: Calls) -> list[Answered]:
        """Call commands at the same time, and those again that give no answer."""
        found: dict[int, Answered] = {}
        while True:
            self._pause()
            due = [index for index in range(len(calls)) if index not in found or self._failed(found[index])]
            self.count(calls, due)
            answers = self.call(node, [calls[index] for index in due])
            found.update(zip(due, answers))  # noqa: B905 - Python 3.9 has no `strict`
            failed = [index for index in due if self._failed(found[index])]
            if not failed or self._tries() >= self.retries or not self._may_call(len(failed)):
                return [found[index] for index in range(len(calls))]
            self._try_again(", ".join(f"{calls[at][0]}: {found[at].trouble or 'an empty answer'}" for at in failed))

    def call(self, node: Table, calls: Calls) -> list[Answered]:
        """Call commands once."""
        return super().converse(node, calls)

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Say the number of the attempt, those among them that only failed."""
        node, now = self.session.program["nodes"][self.session.state.node], self.session.state.registers
        return {**super().variables(name, what), "RDC_ATTEMPT": str(attempt_of(node, now) + self._tries())}

    def _failed(self, answered: Answered) -> bool:
        return not answer_of(answered) if self.needs_words else bool(answered.trouble)

    def _tries(self) -> int:
        """Return how many attempts of the step have failed so far."""
        return sum(note["kind"] == "tried" for note in self.session.state.notes)

    def _may_call(self, number: int) -> bool:
        return self.noun == "tool" or may_call(self.session.state, number)

    def count(self, calls: Calls, due: list[int]) -> None:
        """Record the calls that are due, before they are made."""
        session = self.session
        if not self._may_call(len(due)):
            session.rest()
            raise RefusedError(spent(session.state.node, session.state))
        for index in due:
            name, what, _, _ = calls[index]
            session.record({"kind": "call", "call": self.key(name, what)}, sync=index == due[-1])

    def _try_again(self, trouble: str) -> None:
        """Record that an attempt has failed: nothing runs until the next one, and nobody need decide about it."""
        session, seconds = self.session, FIRST_PAUSE * 2 ** self._tries()
        session.display.line(f"    {one_line(trouble)}; trying again in {duration(seconds)}")
        session.rest()
        session.record({"kind": "tried", "how": trouble, "until": time.time() + seconds})

    def _pause(self) -> None:
        """Wait for what is left of a pause, in this call of the program or a later one."""
        session = self.session
        tried = [note["until"] for note in session.state.notes if note["kind"] == "tried"]
        left = min(tried[-1] - time.time(), FIRST_PAUSE * 2.0 ** len(tried)) if tried else 0.0
        if left > 0:
            with session.signals:
                time.sleep(left)
        session.heed()
        if session.state.condition == "ready":
            session.record({"kind": "again", "condition": "running"})

    def by_hand(self, name: str, given: str) -> Done:
        """Put to a person what there is no command for: now, at the terminal, or later."""
        session = self.session
        session.record({"kind": "wait", "condition": "waiting"})
        for line in clean(given).splitlines():
            session.display.line(f"    {line}".rstrip())
        done = self.at_terminal(name, session.label(session.state.node)) if session.is_interactive else None
        if done is None:
            raise self.not_called(name)
        return done

    def at_terminal(self, name: str, label: str) -> Optional[Done]:
        """Take what a person types, and ask again where that is no answer; None if the person leaves it for later."""
        prompt = f"{label}: your answer (end it with Ctrl-D)\n"
        return asked(self.session, prompt, lambda reply: self.given(name, reply, "answered here"), lambda _line: True)

    def not_called(self, name: str) -> Waiting:
        """Say how a step is answered, or what would answer it."""
        call, node = self.session.call, self.session.program["nodes"][self.session.state.node]
        return Waiting(
            f"to answer: {call('answer', name, '-')} < FILE",
            f"to continue: {call('resume')}   (or {call('resume')} {self.option(node)})",
        )

    def option(self, _node: Table) -> str:
        """Return the option that names a command for a step."""
        return "--agent COMMAND"

    def preview(self, name: str, _node: Table) -> Done:
        """Assume that it passes, or says its first keyword that is not special."""
        return self.from_file(name) or Done(self.first_word(name), "assumed")

    def first_word(self, name: str) -> str:
        """Return the first word of a step that is not special."""
        node: Table = self.session.program["nodes"][name]
        words: list[str] = node.get("words", ["pass"])
        return next(word for word in words if word not in (node.get("excused") or node.get("unanimous") or ()))

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return `-`: an answer comes on standard input, or as a word of its own."""
        return ["-"]
