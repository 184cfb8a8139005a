"""The generated worker: with all answers at once, or one after the other.

Only the worker knows the secrets; who starts a run and answers does not.
"""

from __future__ import annotations

import sys
from typing import Any

from backends.registry import load
from tests.equivalence import workers
from tests.equivalence.difference import same
from tests.equivalence.drivers.process import Done, check_waiting, last_line, run
from tests.equivalence.drivers.python import _event, _inputs
from tests.equivalence.execution import Workspace
from tests.equivalence.visits import Jump
from tests.equivalence.workers import DATABASE, RUN, settled, working


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    program = Program(workspace)
    with working(program.words, workspace.folder, workspace.environment) as said:
        done = program.start("--answers", str(workspace.answers))
        check_waiting(workspace, done)
        same("the exit code", done.code, workspace.exit_code, done.said)
        same("the last line", last_line(done.errors), f"rdc: {RUN} {workspace.end}", done.said)
        facts = settled(program.call)
    return program.check(facts, [done.said, *said])


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers; each begins the next leg, and so does each jump, where it waits or has stopped."""
    program = Program(workspace)
    number = -1
    with working(program.words, workspace.folder, workspace.environment) as said:
        done = program.start()
        for stop in workspace.stops():
            waiting = stop.waiting if isinstance(stop, Jump) else stop.label
            facts = settled(program.call)
            same("where a run stops", facts["state"], "waiting" if waiting else "stop", done.said)
            if waiting:
                same("what a run waits for", facts["step"], waiting, done.said)
            if isinstance(stop, Jump):
                done = program.call("goto", RUN, stop.step, "--by", "me")
            else:
                number += 1
                done = program.call("answer", RUN, *workspace.asked[number])
            same("the exit code of an answer or a jump", done.code, 0, done.said)
        facts = settled(program.call)
    return program.check(facts, [done.said, *said])


class Program:
    """The worker's program, and how an operator calls it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        text = load("dbos").emit(workspace.program, {}).text
        assert text, "a task that the dbos target cannot express"
        script = workspace.folder / "program.py"
        script.write_bytes(text.encode())
        self.words = [sys.executable, str(script)]
        self._without = dict.fromkeys(workspace.secrets, "")

    def start(self, *words: str) -> Done:
        """Start the run, and wait until it waits or ends."""
        return self.call("start", "--id", RUN, "--wait", *_inputs(self._workspace), *words)

    def call(self, *words: str) -> Done:
        """Call the program without secrets."""
        return run(self._workspace, [*self.words, *words, *DATABASE], self._without)

    def check(self, facts: dict[str, Any], said: list[str]) -> bool:
        """Compare all that shows: the log of the commands, the steps, the end."""
        workspace, text = self._workspace, "".join(said)
        workspace.check_log(text)
        done = [
            (each["step"], each["attempt"], each["instances"], each["outcome"])
            for each in facts["finished"]
            if each["outcome"] != "goto"
        ]
        same("the steps", done, [_event(visit, passed) for visit, passed in workspace.scenario.trace.visits], text)
        same("the end", (facts["state"].upper(), facts["message"]), workspace.scenario.trace.end, text)
        workspace.check_secrets(text, workers.records(workspace.folder))
        return True
