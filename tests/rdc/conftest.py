"""What tests of the command line and of `rdc.api` share."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.warm.forks import forking


@pytest.fixture(autouse=True)
def forks() -> Iterator[None]:
    """Each `rdc` that these tests start, or that it starts itself, is forked."""
    with forking():
        yield


@pytest.fixture
def forked_mocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands that play agents and tools in tests of scenarios are forked."""

    def command(path: str | Path, *words: str) -> str:
        return f"{warm.rdc_for_runs()} {shlex.join(['mock', str(path), *words])}"

    monkeypatch.setattr("rdc.testing.tester.mock_command", command)


@pytest.fixture
def real_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """But not where the start of the process matters."""
    (real,) = subprocess.Popen.__bases__
    monkeypatch.setattr(subprocess, "Popen", real)
