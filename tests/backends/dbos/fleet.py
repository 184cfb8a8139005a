"""A fleet of workers whose commands begin at once."""

import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.workers.fleet import CommandResult, Fleet, WorkerProcess, until
from benchmarks.workers.nursery import Process
from tests.support import warm


class WarmFleet(Fleet):
    """A program for workers; they are forked from a process that has loaded DBOS, and its commands from another one."""

    def _process(self, words: list[str], folder: Path, log: Path, environment: Mapping[str, str]) -> Process:
        return warm.start([sys.executable, *words], cwd=folder, env=environment, loads="dbos", log=log)

    def run(
        self, command: list[str], folder: Path, environment: Mapping[str, str], given: bytes = b""
    ) -> CommandResult:
        done = warm.run(command, cwd=folder, env=environment, input=given)
        return CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())

    def begun(self, document: str, state: str = "", *options: str) -> WorkerProcess:
        """Start a worker and the run r1 of a document; wait for a state of it, or until a step has written `pids`."""
        self.compile(document)
        worker = self.worker(*options)
        self.start("r1")
        if state:
            self.until("r1", state)
        else:
            until(lambda: self.lines("pids"))
        return worker

    def expect(self, code: int, part: str, *words: str) -> CommandResult:
        """Call a command that ends with this code and prints this."""
        reply = self.call(*words)
        assert (reply.code, part in reply.text) == (code, True), (words, reply)
        return reply
