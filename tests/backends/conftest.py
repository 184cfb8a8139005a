"""What the tests of the Make target share."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.makefiles import FLOW, PATIENCE, Place, kill_all

KINDS = {
    "busybox": {"sh": "busybox sh", "awk": "busybox awk"},
    "gawk": {"awk": "gawk"},
    "gawk --posix": {"awk": "gawk --posix"},
    "mawk": {"awk": "mawk"},
    "bash --posix": {"sh": "bash --posix"},
}


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


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """What make and its PATH are told so that a shell or an awk of a kind is taken."""
    shim = tmp_path / "bin"
    shim.mkdir()
    for name, words in KINDS[request.param].items():
        real, *more = words.split()
        if not shutil.which(real):
            pytest.skip(f"there is no {real} here")
        (shim / name).write_text(f'#!/bin/dash\nexec {shutil.which(real)} {" ".join(more)} "$@"\n', encoding="utf-8")
        (shim / name).chmod(0o755)
    return {"shell": f"SHELL={shim}/sh" if (shim / "sh").exists() else "SHELL=/bin/sh", "path": f"{shim}:/usr/bin:/bin"}
