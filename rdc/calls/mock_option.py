"""Mock runs in place: `rdc mock` answers instead of agents, tools and executors (`rdc run FILE --mock`)."""

import os

from rdc.calls.mock import MockAnswers, mock_command, read_mocks
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Extension, Part
from runtime_shim.engine.state import State
from runtime_shim.stepspec.attempt import Stages, config_of
from runtime_shim.tasks.calls import Caller, tally
from runtime_shim.tasks.exchange import Answered, Calls, pairs

PLACEHOLDER = "rdc mock"
NOTHING = "echo null"
"""The command that looks up the context in a mock run."""


class Mocked(Part):
    """Knows the mocks, and the command that answers from them."""

    mocks: MockAnswers

    def command(self, kind: str, name: str, number: int) -> str:
        """Return the command that gives an answer; refuse before the step starts if it is missing."""
        session = self.session
        if number >= len(self.mocks.replies[kind].get(name, ())):
            session.rest()
        self.mocks.due(kind, name, number, session.state.node)
        path = os.path.abspath(self.mocks.path)  # noqa: PTH100 (as in the runtime)
        return mock_command(path, "--call", kind, name, str(number))


class MockedCaller(Mocked, Caller):
    """Calls `rdc mock` instead of agents and tools."""

    def command_of(self, name: str) -> str | None:
        """Return a placeholder, or None for an optional tool that the file does not know."""
        node = self.session.program["nodes"][self.session.state.node]
        is_unknown = node.get("optional") and f"{name}/{node['tool']}" not in self.mocks.replies["tools"]
        return None if is_unknown else PLACEHOLDER

    def count(self, calls: Calls, due: list[int]) -> None:
        """Record the due calls, if the file has an answer to each."""
        made = tally(self.session.state)
        for name, what, _, _ in (calls[index] for index in due):
            self._command(name, what, made[self.key(name, what)])
        super().count(calls, due)

    def call(self, node: Table, calls: Calls) -> list[Answered]:
        """Call the commands that give the answers."""
        made = tally(self.session.state)
        return super().call(
            node,
            [
                (name, what, self._command(name, what, made[self.key(name, what)] - 1), given)
                for name, what, _, given in calls
            ],
        )

    def _command(self, name: str, what: Table, number: int) -> str:
        kind, _, called = self.key(name, what).partition(" ")
        return self.command(f"{kind}s", called, number)


class MockedStages(Mocked, Stages):
    """Calls `rdc mock` instead of executors and tools, and looks up no context."""

    def converse(self, node: Table, calls: Calls) -> list[Answered]:
        """Call the command that gives the result of a tool."""
        [(name, what, _, given)] = calls
        command = NOTHING if node["stage"] == "context" else self._tool(node["subject"])
        return super().converse(node, [(name, what, command, given)])

    def _tool(self, tool: str) -> str:
        made = [one["found"]["tool"] for one in self.session.state.finished if "tool" in one.get("found", {})]
        return self.command("tools", tool, sum(one["name"] == tool and one["status"] != "skipped" for one in made))

    def execute(self, name: str, node: Table, _command: str, request: str, folder: str) -> int | None:
        """Call the command that acts as the executor."""
        done = [one for one in self.session.state.finished if one["node"] == name]
        number = sum("exit_code" in one.get("found", {}) for one in done)
        return super().execute(name, node, self.command("executors", name, number), request, folder)


MOCKED = {"agent": MockedCaller, "parallel": MockedCaller, "tool": MockedCaller, "stage": MockedStages}
"""The performers that replace others, by kind of task."""


class MockRuns(Extension):
    """The option `--mock`."""

    options = (
        ("run resume status", "--mock", "FILE", "a mock run: this file answers instead of agents, tools and executors"),
    )

    @staticmethod
    def suits(program: Table) -> bool:
        """Return whether the program calls something that the file can replace."""
        return any(node["task"] in MOCKED for node in program["nodes"].values())

    def before_run(self, _state: State | None) -> None:
        """Read the file, and replace the calls."""
        session = self.session
        if not session.options.mock:
            return
        mocks = read_mocks(session.options.mock)
        for task in {*MOCKED} & {*session.kinds}:
            session.kinds[task] = type("Mocked", (MOCKED[task], session.kinds[task]), {"mocks": mocks})
        if "stepspec" in session.program:
            options, configured = self.session.options, config_of(self.session).get("tools", {})
            called = (*pairs("--tool", options.tool), *(name for name in configured if configured[name].get("command")))
            names = dict.fromkeys((*mocks.replies["tools"], *called))
            known = [option for option in options.known if option[1] not in ("--tool", "--executor")]
            vars(options).update(tool=[f"{name}={PLACEHOLDER}" for name in names], executor=PLACEHOLDER, known=known)

    def record(self, record: Record) -> Record:
        """Record a mock run, for the reminder."""
        return {**record, "mocked": True} if record.get("kind") == "begin" and self.session.options.mock else record

    def hint(self) -> str:
        """Return a reminder of the option."""
        return "   (with --mock, as before)" if self.session.state.begin.get("mocked") else ""

    def repeat(self, command: str) -> tuple[str, ...]:
        """Return the option, to continue like this call."""
        path = self.session.options.mock
        return ("--mock", path) if path and command in ("resume", "step") else ()
