"""What the tests of the Make target share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.makefiles import FLOW, PATIENCE, Place, kill_all


@pytest.fixture
def flow(tmp_path: Path) -> Place:
    """A Makefile with commands and questions."""
    return Place(tmp_path, FLOW)


@pytest.fixture
def ended() -> Iterator[list[subprocess.Popen[str]]]:
    """Runs that are ended with the test, if they are not over."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            kill_all(process.pid)
        process.communicate(timeout=PATIENCE)
