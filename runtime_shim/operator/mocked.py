"""Mock runs: agents and tools answer from a file, and no process is called (`--mock`)."""

from typing import Optional

from runtime_shim.data.shared import read_json
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import one_line
from runtime_shim.operator.mocks import KIND_OF, MocksByKind, Reply, mocks_in, reply_to
from runtime_shim.tasks.answers import read_text
from runtime_shim.tasks.conversing import ANSWERS, PROMPTS, Calls
from runtime_shim.tasks.exchange import Answered
from runtime_shim.tasks.speaking import Trying
from runtime_shim.tasks.tally import tally

TASKS = ("agent", "parallel", "tool")


class Mocked(Trying):
    """Answers what would be called."""

    mocks: MocksByKind

    def command_of(self, name: str) -> Optional[str]:
        """Return a command, which nobody calls; an optional tool that the file does not know has none."""
        node = self.session.program["nodes"][self.session.state.node]
        is_unknown = node.get("optional") and f"{name}/{node['tool']}" not in self.mocks["tools"]
        return None if is_unknown else "mock"

    def count(self, calls: Calls, due: list[int]) -> None:
        """Record the calls that are due, if there is an answer to each."""
        session, before = self.session, tally(self.session.state)
        for name, what, _, _ in (calls[index] for index in due):
            key = self.key(name, what)
            if self._reply(key, before[key]) is None:
                session.rest()
                kind, _, called = key.partition(" ")
                where = one_line(f"{KIND_OF[kind]}: {called}")
                raise RefusedError(
                    f"{name}: {session.options.mock} has no answer number {before[key] + 1} under {where}"
                )
        super().count(calls, due)

    def call(self, _node: Table, calls: Calls) -> list[Answered]:
        """Answer in the order of the calls, and keep what was asked and answered as for any other call."""
        answers = [self._answer(name, self.key(name, what), given) for name, what, _, given in calls]
        for (name, *_), answered in zip(calls, answers):  # noqa: B905 - Python 3.9 has no `strict`
            self.settled(name, answered)
        return answers

    def _reply(self, key: str, number: int) -> Optional[Reply]:
        kind, _, called = key.partition(" ")
        return reply_to(self.mocks, KIND_OF[kind], called, number)

    def _answer(self, name: str, key: str, given: str) -> Answered:
        reply = self._reply(key, tally(self.session.state)[key] - 1) or Reply("")
        self.heed_and_show(reply.text)
        kept = self.keep(PROMPTS, name, given)
        self.keep(ANSWERS, name, reply.text, kept)
        return Answered(b"" if reply.trouble else reply.text.encode("utf-8", "replace"), reply.trouble)

    def heed_and_show(self, text: str) -> None:
        """Show an answer, unless the run was told to end."""
        self.session.heed()
        if text:
            self._show(text.rstrip("\n"))


class Mocks(Extension):
    """Mock runs of programs with agents or tools."""

    options = (("run resume", "--mock", "FILE", "a mock run: agents and tools answer from this file"),)

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program calls any."""
        return any(node["task"] in TASKS for node in program["nodes"].values())

    def before_run(self, _state: Optional[State]) -> None:
        """Have the file answer what agents and tools would."""
        session, path = self.session, self.session.options.mock
        if not path or session.options.command not in ("run", "resume"):
            return
        mocks = mocks_in(path, (session.host.parse or read_json)(path, read_text(path)))
        for task in {*TASKS} & {*session.kinds}:
            session.kinds[task] = type("Mocked", (Mocked, session.kinds[task]), {"mocks": mocks})
