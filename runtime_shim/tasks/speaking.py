"""Steps that give a text to a process and take its answer, or to a person where there is no process to call (I11)."""

from typing import Optional

from runtime_shim.engine.display import clean
from runtime_shim.engine.lifecycle import Done, Waiting
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.tasks.ask import Asking
from runtime_shim.tasks.replies import typed
from runtime_shim.tasks.trying import Trying


class Speaking(Asking, Trying):
    """Does steps that are answered by what they call, or by a person."""

    recovers = True
    asks = False

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
        while True:
            reply = typed(self.session.display, self.session.signals, f"{label}: your answer", True)
            try:
                return None if reply is None else self.given(name, reply, "answered here")
            except RefusedError as error:
                self.session.display.line(f"    {error}")

    def not_called(self, name: str) -> Waiting:
        """Say how a step is answered, or what would answer it."""
        call, node = self.session.call, self.session.program["nodes"][self.session.state.node]
        return Waiting(
            f"to answer: {call('answer', name, '-')} < FILE",
            f"to go on:  {call('resume')}   (or {call('resume')} {self.option(node)})",
        )

    def option(self, _node: Table) -> str:
        """Return the option that names a command for a step."""
        return "--agent COMMAND"

    def preview(self, name: str, _node: Table) -> Done:
        """Assume that it passes, or says its first keyword that is not special."""
        return self.from_file(name) or Done(self._first(name), "assumed")

    def _first(self, name: str) -> str:
        node: Table = self.session.program["nodes"][name]
        words: list[str] = node.get("words", ["pass"])
        return next(word for word in words if word not in (node.get("excused") or node.get("unanimous") or ()))

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return `-`: an answer comes on standard input, or as a word of its own."""
        return ["-"]
