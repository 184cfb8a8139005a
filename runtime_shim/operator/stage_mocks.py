"""Mock runs of specifications: executors and tools answer from a file, and no process is called (`--mock`)."""

import json
import os
from typing import Any, Optional

from runtime_shim.contract.attempt import HANDED, Stages
from runtime_shim.contract.safe_paths import UnsafeError, write_inside
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import one_line
from runtime_shim.operator.mocks import MocksByKind, mocks_in, reply_to
from runtime_shim.tasks.answers import read_text
from runtime_shim.tasks.conversing import PROMPTS, Calls
from runtime_shim.tasks.exchange import Answered


class MockedStages(Stages):
    """Does what the file says in place of what would be called."""

    mocks: MocksByKind

    def is_mocked(self, kind: str, name: str) -> bool:
        """Tell whether the file answers: for every executor, and for the tools that it knows."""
        return kind == "executors" or name in self.mocks[kind]

    def converse(self, node: Table, calls: Calls) -> list[Answered]:
        """Answer a call of a tool; a context is not looked up."""
        if node["stage"] == "context":
            return [Answered(b"null", "")]
        tool, finished = node["subject"], self.session.state.finished
        made = [one["found"]["tool"] for one in finished if "tool" in one.get("found", {})]
        number = sum(one["name"] == tool and one["status"] != "skipped" for one in made)
        reply = self._next("tools", tool, number)
        self.session.heed()
        self._show(reply.text.rstrip("\n"))
        self.keep(PROMPTS, calls[0][0], calls[0][3])
        return [Answered(b"" if reply.trouble else reply.text.encode("utf-8", "replace"), reply.trouble)]

    def execute(self, name: str, _node: Table, _command: str, request: str, folder: str) -> int:
        """Write and hand over what the executor would."""
        done = [one for one in self.session.state.finished if one["node"] == name]
        play = self._next("executors", name, sum("exit_code" in one.get("found", {}) for one in done))
        self.keep(PROMPTS, name, request)
        for path, text in play.files.items():
            try:
                write_inside(self.root, path, text.encode("utf-8", "replace"))
            except UnsafeError as error:
                self.session.rest()
                raise RefusedError(f"{self.session.options.mock}: executors: {one_line(name)}: {error}") from None
        for key in HANDED.keys() & play.handed.keys():
            with open(os.path.join(folder, key), "w", encoding="utf-8") as file:
                json.dump(play.handed[key], file)
        return int(play.code)

    def _next(self, kind: str, name: str, number: int) -> Any:  # noqa: ANN401 (a Reply or a Play)
        found = reply_to(self.mocks, kind, name, number)
        if found is None:
            self.session.rest()
            node, where = self.session.state.node, one_line(f"{kind}: {name}")
            raise RefusedError(f"{node}: {self.session.options.mock} has no answer number {number + 1} under {where}")
        return found


class MocksOfStages(Extension):
    """Mock runs of specifications."""

    options = (("run resume open step", "--mock", "FILE", "a mock run: executors and tools answer from this file"),)

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program is a specification."""
        return "contract" in program

    def before_run(self, _state: Optional[State]) -> None:
        """Have the file answer what executors and tools would."""
        session, path = self.session, self.session.options.mock
        if path and session.options.command in ("run", "resume"):
            mocks = mocks_in(path, session.host.parse(path, read_text(path)))
            session.kinds["stage"] = type("MockedStages", (MockedStages, session.kinds["stage"]), {"mocks": mocks})
