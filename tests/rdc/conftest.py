"""What tests of the command line and of `rdc.api` share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rdc.runs.process import Ended, run_process
from tests.support import warm
from tests.support.cli import environment


def _forked(words: Sequence[str], folder: str, given: str = "", timeout: float | None = None) -> Ended:
    """Do what `run_process` does, but fork; what may run on after this process ends begins as a real one."""
    if timeout is not None:
        return run_process(words, folder, given, timeout)
    command = [sys.executable, "-m", "rdc", "run", "--", *words]
    done = warm.run(command, cwd=Path(folder).absolute(), env=environment(), input=given.encode())
    return Ended(done.returncode, done.stdout, done.stderr.decode())


@pytest.fixture
def forked_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of `rdc run` with which `rdc.api`, `rdc status` and `rdc report` ask for a run are forked.

    A test does without it where a signal, a thread or the start of the process matters.
    """
    for module in ("process", "status", "reports"):
        monkeypatch.setattr(f"rdc.runs.{module}.run_process", _forked)
