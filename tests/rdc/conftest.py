"""What tests of the command line and of `rdc.api` share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.support.warm.forks import forking


@pytest.fixture(autouse=True)
def forks() -> Iterator[None]:
    """Each `rdc` that these tests start, or that it starts itself, is forked."""
    with forking():
        yield


@pytest.fixture
def real_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """But not where the start of the process matters."""
    (real,) = subprocess.Popen.__bases__
    monkeypatch.setattr(subprocess, "Popen", real)
