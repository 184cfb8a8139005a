"""Tests of the dbos target: a worker in the background, and calls of an operator."""

import json
import os
import sys
import time
from importlib.util import find_spec
from typing import Any

from msgspec.structs import replace

from backends.registry import load
from compiler.ir.edges import Keep
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, Shell
from compiler.ir.texts import text
from rdc.testing.process import PAUSE, Finished, execute, last_line, running
from rdc.testing.run import ENDS, MissingToolError, Run, Setting, TargetTestError, drive, steps_told

RUN = "trial"
EXIT_RUNNING = 3


def run(setting: Setting) -> Run:
    """Run the generated worker, and read the run from its status."""
    if find_spec("dbos") is None:
        raise MissingToolError("`dbos` is not installed: pip install dbos==3.4.0, or test another target")
    if setting.is_prompted:
        nodes = (_question(node) if isinstance(node.task, Shell) else node for node in setting.program.nodes)
        setting = replace(setting, program=replace(setting.program, nodes=tuple(nodes)), is_prompted=False)
    test = _TargetTest(setting)
    with running(test.worker, setting.workspace, test.environment):
        return drive(test, setting)


def _question(node: Node) -> Node:
    """Return a question instead of a command. Workers have no prompted runs."""
    edges = (
        replace(edge, effects=tuple(each for each in edge.effects if not isinstance(each, Keep))) for edge in node.edges
    )
    return replace(node, task=Ask("pass_fail", text("Did it pass?")), edges=tuple(edges), variables=(), constants=())


class _TargetTest:
    """The generated worker, a run, and the output of the last call."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        script = setting.lay("worker.py", load("dbos").emit(setting.program, {"operator": "full"}))
        self._program = [sys.executable, str(script)]
        self._database = ["--database", f"sqlite:///{setting.scratch / 'runs.sqlite'}"]
        self._last = Finished(0, "", "")
        self.environment = {**os.environ, **setting.environment}
        tools = [f"--tool={name}={command}" for name, command in setting.tools.items()]
        places = ["--logs", str(setting.scratch / "logs"), *self._database]
        self.worker = [*self._program, "worker", "--jobs", "1", "--poll", str(PAUSE), *tools, *places]

    def begin(self) -> None:
        given = [f"--input={name}={value}" for name, value in self._setting.inputs.items()]
        self._call("start", "--id", RUN, *given, "--answers", str(self._setting.write_answers()), "--wait")

    def move(self, step: str) -> str:
        self._call("goto", RUN, step)
        return last_line(self._last.err) if self._last.code else ""

    def go_on(self, part: int) -> None:
        """Answer the steps that wait, one at a time. Replies by step were all given at the start."""
        setting = self._setting
        left = [] if setting.replies else [line.split() for line in setting.answers[part]]
        while (facts := self._facts()) and facts["state"] == "waiting":
            found = next((one for one in left if one[:-1] == [facts["step"]]), None)
            found = found or next((one for one in left if not one[:-1]), None)
            if found is None:
                return
            left.remove(found)
            self._call("answer", RUN, facts["step"], found[-1])
            if self._last.code:
                return

    def told(self) -> Run:
        facts = self._facts()
        if not facts:
            return Run.told((), self._last.err, self._last.code)
        steps = steps_told(((one, one["outcome"] == "goto") for one in facts["finished"]), self._setting)
        result = facts["state"].upper()
        if result in ENDS:
            return Run(steps, result, " ".join(facts["message"].split()))
        if problem := facts.get("trouble"):
            return Run(steps, "", problem)
        if result == "WAITING":
            return Run(steps, result, facts["step"])
        return Run(steps, "", f"the run is {facts['state']} at step {facts['step']}")

    def _facts(self) -> dict[str, Any]:
        """Return the status of the run as soon as it waits or ends; empty if it did not start."""
        deadline = time.monotonic() + self._setting.timeout
        while (status := self._ended("status", RUN, "--json")).code == EXIT_RUNNING:
            if time.monotonic() > deadline:
                raise TargetTestError(f"it took longer than {self._setting.timeout:g} seconds; use a longer --timeout")
            time.sleep(PAUSE)
        facts: dict[str, Any] = json.loads(status.out) if status.out else {}
        return facts

    def _call(self, *words: str) -> None:
        self._last = self._ended(*words)

    def _ended(self, *words: str) -> Finished:
        command = [*self._program, *words, *self._database]
        return execute(command, self._setting.workspace, self.environment, self._setting.timeout)
