"""Mock runs of specifications: executors and tools answer from a file, without processes (`--mock`)."""

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
    """Follows the file instead of calling executors and tools."""

    mocks: MocksByKind

    def is_mocked(self, kind: str, name: str) -> bool:
        """Return whether the file answers: always for executors, and for the tools it knows."""
        return kind == "executors" or name in self.mocks[kind]

    def converse(self, node: Table, calls: Calls) -> list[Answered]:
        """Answer a tool call; skip context lookups."""
        if node["stage"] == "context":
            return [Answered(b"null", "")]
        (name, _, _, given), tool, finished = calls[0], node["subject"], self.session.state.finished
        made = [one["found"]["tool"] for one in finished if "tool" in one.get("found", {})]
        number = sum(one["name"] == tool and one["status"] != "skipped" for one in made)
        return [answered_by(reply_due(self.session, self.mocks, "tools", tool, number), self, name, given)]

    def execute(self, name: str, _node: Table, _command: str, request: str, folder: str) -> int:
        """Write the files and hand over the data that the mock says."""
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
