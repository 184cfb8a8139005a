"""What all tests share: the profile of hypothesis, where things are, how a program becomes Python."""

from __future__ import annotations

import gc
import os
import re
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

from backends.registry import load
from compiler.ir.program import Program
from tests.support import interpreters
from tests.support import once as shared

ROOT = Path(__file__).resolve().parents[1]
CONFORMANCE = ROOT.parent / "shared" / "conformance"
NO_CONFORMANCE = f"the conformance cases are not at {CONFORMANCE}"

# The same examples in every run: a test that passed fails only when something was changed.
settings.register_profile("rdc", derandomize=True, deadline=None)
settings.load_profile("rdc")

# What is started in the background of a shell ignores these, and so would everything that the tests start.
for _ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_ignored) is signal.SIG_IGN:
        signal.signal(_ignored, signal.default_int_handler if _ignored is signal.SIGINT else signal.SIG_DFL)


interpreters.put_first()

# Processes by the thousand begin with the modules of the compiler, each worker with those of the tests: what one has
# compiled the others read, even where the environment says not to keep it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# `rdc build` approves nothing where this is set; the tests that mean that set it themselves.
os.environ.pop("CI", None)


WITH_ACT = (
    *("tests/backends/github/", "tests/differential/", "tests/robustness/"),
    *("tests/rdc/test_cli_test.py", "tests/rdc/test_trial_companions.py", "tests/repo/test_action.py"),
)
HANGS = "TimeoutExpired: Command '.'[^']*/act'"
"""The tests that run act, which hangs after the last step of a job about once in a thousand runs.

Such a test is run again; a workflow that hangs by itself does so again.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--whole` runs all cases of tests of which usually a share is run."""
    parser.addoption("--whole", action="store_true", help="run all cases of all tests, as `make soak` does")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Begin what workers share. A worker asks for the runs of each test; unless told so, TCP takes 40 ms for that."""
    shared.begin(config)
    connection = getattr(getattr(config, "failures_db", None), "sock", None)
    if connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage: modules and tests stay, and each worker would look half of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(3_000, 10, 10)  # tests make many objects that stay for a while
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to `make soak` what is marked `soak`, and of the cases or examples of `share(n)` all but each n-th."""
    seen: Counter[str] = Counter()
    left: dict[pytest.Item, None] = {}
    for item in items:
        mark = item.get_closest_marker("share")
        name = item.nodeid.split("[", 1)[0]
        if item.get_closest_marker("soak") and not config.getoption("whole"):
            left[item] = None
        if mark and not config.getoption("whole"):
            if seen[name] % mark.args[0]:
                left[item] = None
            elif name == item.nodeid and isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
                take_share(item.obj, mark.args[0])
        seen[name] += 1
        if item.nodeid.startswith(WITH_ACT):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=HANGS))
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]


def take_share(test: Any, number: int) -> None:
    """Have hypothesis try each n-th part of the examples of a test alone."""
    whole = test._hypothesis_internal_use_settings
    test._hypothesis_internal_use_settings = settings(whole, max_examples=-(-whole.max_examples // number))


@pytest.fixture(scope="session")
def folder_numbers() -> Iterator[int]:
    """Tells the folders of tests apart."""
    return count()


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, folder_numbers: Iterator[int]
) -> Path:
    """An empty folder. That of pytest takes 3 ms: it looks for a free number among the folders of all tests before."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}-{next(folder_numbers)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of the published cases; it is not part of the project."""
    if not CONFORMANCE.is_dir():
        pytest.skip(NO_CONFORMANCE)
    return CONFORMANCE


@pytest.fixture(scope="session")
def to_python() -> Callable[[Program], str]:
    """Gives the text of the Python program that a program becomes."""
    backend = load("python")

    def emitted(program: Program) -> str:
        text = backend.emit(program, {}).text
        assert text, "a task that the python target cannot express"
        return text

    return emitted
