"""What all tests share: the profile of hypothesis, where things are, how a program becomes Python."""

import gc
import os
import re
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

from backends.registry import load
from compiler.ir.program import Program
from tests.support import interpreters, starts
from tests.support import once as shared

ROOT = Path(__file__).resolve().parents[1]
CONFORMANCE = ROOT.parent / "shared" / "conformance"
NO_CONFORMANCE = f"the conformance cases are not at {CONFORMANCE}"

# The same examples in every run: a test that passed fails only when something was changed.
settings.register_profile("rdc", derandomize=True, deadline=None)
settings.load_profile("rdc")

# hypothesis would read all modules again for constants to try, in each worker, and examples would depend on what else
# a run collects.
providers._get_local_constants = lambda: providers._local_constants

# What is started in the background of a shell ignores these, and so would everything that the tests start.
for _ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_ignored) is signal.SIG_IGN:
        signal.signal(_ignored, signal.default_int_handler if _ignored is signal.SIGINT else signal.SIG_DFL)


interpreters.put_first()

# Processes by the thousand begin with the modules of the compiler, each worker with those of the tests: what one has
# compiled the others read, even where the environment forbids to store it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Some containers set this; it is one more way to begin, for which each process that forks would load everything again.
os.environ.pop("PYTHONUNBUFFERED", None)

# `rdc build` approves nothing where this is set; the tests that mean that set it themselves.
os.environ.pop("CI", None)

# Agents set these for the commands that they run, and rdc refuses them what is for people.
for _variable in ("CLAUDECODE", "CODEX_THREAD_ID", "AI_AGENT"):
    os.environ.pop(_variable, None)


HANGS = "TimeoutExpired: Command '.'[^']*/act'"
"""How act fails, which hangs after the last step of a job about once in a thousand runs.

A test with a tool that fails so is run again; a workflow that hangs by itself does so again.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--whole` runs all cases of tests of which usually a share is run; `--kind` runs only some of the modules."""
    parser.addoption("--whole", action="store_true", help="run all cases of all tests, as `make soak` does")
    parser.addoption("--most", type=int, default=20, help="the most examples of a test of hypothesis, but of `--whole`")
    parser.addoption(
        "--kind", choices=("quick", "other"), help="run only unit tests, or only tests that start processes"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Begin what workers share. A worker asks for the runs of each test; by default, TCP takes 40 ms for that."""
    shared.begin(config)
    config.pluginmanager.register(starts.Guard())
    connection = getattr(getattr(config, "failures_db", None), "sock", None)
    if connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the modules of the other kind, which saves their imports."""
    kind: str | None = config.getoption("kind")
    if kind and collection_path.suffix == ".py" and collection_path.name.startswith("test_"):
        return starts.is_quick(collection_path) != (kind == "quick")
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect without looking for garbage: modules and tests stay, and each worker would look half of the time.

    In a fresh clone one worker compiles the modules for all.
    """
    gc.disable()
    name = f"compiled-{session.config.getoption('kind')}"
    cache: pytest.Cache | None = getattr(session.config, "cache", None)  # a plugin that can be left out
    try:
        with nullcontext() if cache is None or cache.get(f"rdc/{name}", False) else shared.first(name):
            return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 10, 10)  # tests make many objects that stay for a while
        gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remember that Python has stored what it compiled of the tests of this kind.

    pytest looks for garbage at the end: of all that is older than the last tests, that would take a second.
    """
    gc.collect(1)
    gc.freeze()
    cache: pytest.Cache | None = getattr(session.config, "cache", None)
    if cache and not hasattr(session.config, "workerinput"):
        cache.set(f"rdc/compiled-{session.config.getoption('kind')}", True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to `make soak` what is marked `soak`, of the cases of `share(n)` all but each n-th, and most examples."""
    for item in items:
        if item.get_closest_marker("tool"):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=HANGS))
        if "is_whole" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("share"):
            item.add_marker(pytest.mark.share(1))  # so that `make soak` runs it
    if config.getoption("whole"):
        return
    seen: Counter[str] = Counter()
    left: dict[pytest.Item, None] = {}
    for item in items:
        mark = item.get_closest_marker("share")
        name = item.nodeid.split("[", 1)[0]
        if item.get_closest_marker("soak") or (mark and seen[name] % mark.args[0]):
            left[item] = None
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
            own = item.get_closest_marker("most")
            limit_examples(item.obj, min(config.getoption("most"), own.args[0] if own else 1_000))
        seen[name] += 1
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]


def limit_examples(test: Any, most: int) -> None:
    """Have hypothesis try a part of the examples of a test; a machine with rules has settings of its own."""
    if whole := getattr(test, "_hypothesis_internal_use_settings", None):
        test._hypothesis_internal_use_settings = settings(whole, max_examples=min(whole.max_examples, most))


@pytest.fixture(scope="session")
def is_whole(request: pytest.FixtureRequest) -> bool:
    """Whether a test tries all of its examples; `make soak` runs each test that asks."""
    return bool(request.config.getoption("whole"))


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
