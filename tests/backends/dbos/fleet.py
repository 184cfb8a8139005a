"""A fleet of workers whose commands begin at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.workers.fleet import CommandResult, Fleet
from tests.support import warm


class WarmFleet(Fleet):
    """A program for workers; its workers are real processes, its commands are forked from one that has loaded it."""

    def run(
        self, command: list[str], folder: Path, environment: Mapping[str, str], given: bytes = b""
    ) -> CommandResult:
        done = warm.run(command, cwd=folder, env=environment, input=given)
        return CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())
