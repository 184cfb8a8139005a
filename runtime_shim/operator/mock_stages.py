"""Mock runs of specifications: executors and tools answer from a file, and no process is called (`--mock`)."""

import json
import os

from runtime_shim.contract.attempt import HANDED, Stages
from runtime_shim.contract.safe_paths import UnsafeError, write_inside
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.texts import one_line
from runtime_shim.operator.mocks import MockRuns, MocksByKind, Play, answered_by, reply_due
from runtime_shim.tasks.exchange import Answered
from runtime_shim.tasks.prompting import PROMPTS, Calls


class MockedStages(Stages):
    """Does what the file says instead of what would be called."""

    mocks: MocksByKind

    def is_mocked(self, kind: str, name: str) -> bool:
        """Tell whether the file answers: for every executor, and for the tools that it knows."""
        return kind == "executors" or name in self.mocks[kind]

    def converse(self, node: Table, calls: Calls) -> list[Answered]:
        """Answer a call of a tool; a context is not looked up."""
        if node["stage"] == "context":
            return [Answered(b"null", "")]
        (name, _, _, given), tool, finished = calls[0], node["subject"], self.session.state.finished
        made = [one["found"]["tool"] for one in finished if "tool" in one.get("found", {})]
        number = sum(one["name"] == tool and one["status"] != "skipped" for one in made)
        return [answered_by(reply_due(self.session, self.mocks, "tools", tool, number), self, name, given)]

    def execute(self, name: str, _node: Table, _command: str, request: str, folder: str) -> int:
        """Write and hand over what the executor would."""
        done = [one for one in self.session.state.finished if one["node"] == name]
        number = sum("exit_code" in one.get("found", {}) for one in done)
        play: Play = reply_due(self.session, self.mocks, "executors", name, number)
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
        return play.code


class MocksOfStages(MockRuns):
    """Mock runs of specifications."""

    mocked = {"stage": MockedStages}
    options = (("run resume open step", "--mock", "FILE", "a mock run: executors and tools answer from this file"),)
