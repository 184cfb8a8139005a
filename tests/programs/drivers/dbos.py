"""The generated worker: with all answers at once, and one after the other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.equivalence.difference import same
from tests.equivalence.workers import DATABASE, RUN, settled, working
from tests.programs.drivers.process import Done, run
from tests.programs.drivers.python import _environment, _given, _inputs
from tests.programs.workspace import Workspace, is_plain

PLACE = Path(".rdc", "program", RUN)
"""The folder with the files of the run."""


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    as_json = not all(is_plain(reply) for _, reply in workspace.asked)
    program = Program(workspace)
    with working(program.words, workspace.folder, program.environment, program.given) as said:
        done = program.start("--answers", str(workspace.write_answers(as_json=as_json)))
        same("the exit code", done.code, 0 if (workspace.trace.end or " ")[0] == "COMPLETE" else 1, done.said)
        facts = settled(program.call)
    return program.check(facts, [done.said, *said])


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers; each begins the next leg."""
    program = Program(workspace)
    with working(program.words, workspace.folder, program.environment, program.given) as said:
        done = program.start()
        for step, reply in workspace.asked:
            facts = settled(program.call)
            same("where a run waits", (facts["state"], facts["step"]), ("waiting", step), done.said)
            given = [reply] if is_plain(reply) else ["-"]
            done = program.call("answer", RUN, step, *given, given=f"{reply}\n")
            same("the exit code of an answer", done.code, 0, done.said)
        facts = settled(program.call)
    return program.check(facts, [done.said, *said])


class Program:
    """The worker's program, and how an operator calls it, who needs no agents and tools."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        script = workspace.folder / "program.py"
        script.write_bytes(workspace.emitted("dbos").encode())
        self.words = [sys.executable, str(script)]
        self.given = _given(workspace)
        self.environment = {**workspace.environment, **_environment(workspace)}

    def start(self, *words: str) -> Done:
        """Start the run, and wait until it waits or ends."""
        return self.call("start", "--id", RUN, "--wait", *_inputs(self._workspace), *words)

    def call(self, *words: str, given: str = "") -> Done:
        """Call the program."""
        return run(self._workspace, [*self.words, *words, *DATABASE], given=given)

    def check(self, facts: dict[str, Any], said: list[str]) -> bool:
        """Compare the calls, the steps, the files of the run, and the end."""
        workspace, text = self._workspace, "".join(said)
        workspace.check_calls(text)
        workspace.check_reports(workspace.folder / PLACE / "reports", text)
        workspace.check_artifact(workspace.folder / PLACE, text)
        done = [(each["step"], each["attempt"], each["outcome"]) for each in facts["finished"]]
        expected = [(visit.step, visit.attempt, visit.word) for visit in workspace.trace.visits]
        same("the steps", done, expected, text)
        same("the end", (facts["state"].upper(), facts["message"]), workspace.trace.end, text)
        return True
