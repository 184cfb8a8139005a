"""What the tests of the Make target share."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.makefiles import FLOW, PATIENCE, Place, kill_all


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


@pytest.fixture(params=("busybox sh", "bash --posix", "dash"))
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    real, *more = request.param.split()
    if not shutil.which(real):
        pytest.skip(f"there is no {real} here")
    shim = tmp_path / "bin" / "sh"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shutil.which(real)} {" ".join(more)} "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    return str(shim)
