"""What tests of the command line and of `rdc.api` share."""

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from rdc.draw import graphviz
from rdc.testing.process import Finished, execute
from rdc.testing.run import Setting
from tests.support import warm
from tests.support.warm.forks import forking


@pytest.fixture(autouse=True)
def forks() -> Iterator[None]:
    """Each `rdc` that these tests start, or that it starts itself, is forked."""
    with forking():
        yield


@pytest.fixture
def forked_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs that tests of scenarios call, by themselves, by make or in steps of workflows, are forked."""
    write, usual = Setting.write, f"PYTHON={sys.executable}"

    def replaced(setting: Setting, name: str, text: str) -> Path:
        return write(setting, name, warm.forked_steps(text, sys.executable))

    def program(words: Sequence[str], folder: Path, variables: Mapping[str, str], timeout: float) -> Finished:
        return execute(warm.forked_program(words), folder, variables, timeout)

    def make(words: Sequence[str], folder: Path, variables: Mapping[str, str], timeout: float) -> Finished:
        own = ["PYTHON=python3" if word == usual else word for word in words]
        return execute(own, folder, warm.forking(variables), timeout)

    monkeypatch.setattr(Setting, "write", replaced)
    monkeypatch.setattr("rdc.testing.targets.python.execute", program)
    monkeypatch.setattr("rdc.testing.targets.make.execute", make)


@pytest.fixture(scope="session")
def render() -> Callable[[str, str], bytes]:
    return cache(graphviz.render)


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch, render: Callable[[str, str], bytes]) -> None:
    """Pictures of the same graph are drawn once for all tests that aren't about the program that draws."""
    monkeypatch.setattr(graphviz, "render", render)


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
