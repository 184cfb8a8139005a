"""What starts processes: a test without a mark is a unit test, and fails when it starts one.

A process costs as much as a hundred unit tests, and `make quick` runs unit tests alone. So a module whose tests start
processes has a line `pytestmark = pytest.mark.process`, or `pytest.mark.tool` where it needs act, node, Graphviz,
PostgreSQL or a browser.
"""

import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import pytest

from compiler.ir import answers
from runtime_shim.values import fitting

MARKS = ("process", "tool")
EVENT = "tests.start"
"""The event of a helper that has a process of its own, such as a server, and asks that to start another one."""

EVENTS = frozenset(
    {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system", "pty.spawn", EVENT}
)
MARKED = re.compile(rf"^pytestmark = .*\bmark\.({'|'.join(MARKS)})\b", re.MULTILINE)


def announce(program: str) -> None:
    """Say that a process starts which this interpreter does not start itself."""
    sys.audit(EVENT, program)


def is_quick(module: Path) -> bool:
    """Whether a module of tests has none of the marks."""
    return not MARKED.search(module.read_text(encoding="utf-8"))


def match_here(function: str, flags: int, pattern: str, value: str) -> Any:
    """Match a pattern as `in_time` of the runtime does, with the same limit, but without a process."""
    if threading.current_thread() is not threading.main_thread():  # which alone can set a time limit
        return _matched(function, flags, pattern, value)
    previous = signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, fitting.LONGEST_MATCH)
    try:
        return _matched(function, flags, pattern, value)
    except TimeoutError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _matched(function: str, flags: int, pattern: str, value: str) -> Any:
    made = re.compile(pattern, flags)
    if function != "last":
        return getattr(made, function)(value) is not None
    return [one[1] or "" for one in made.finditer(value)][-1:] if made.groups else []


def _too_long(*_: object) -> NoReturn:
    raise TimeoutError


class StartedError(BaseException):
    """A unit test has started a process. Hypothesis looks for no smaller example of that."""


class Guard:
    """The plugin that fails a unit test when it starts a process, whatever the test makes of the exception."""

    def __init__(self) -> None:
        self._is_quick = False
        self._started = ""
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._is_quick and event in EVENTS:
            self._started = f"{event} {arguments[0] if arguments else ''}".strip()
            self._fail()

    def _fail(self) -> None:
        raise StartedError(f"a unit test starts a process ({self._started}): call in this process, or mark the module")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Listen while a test and its fixtures run, and have the compiler match patterns in this process."""
        self._is_quick = not any(item.get_closest_marker(mark) for mark in MARKS)
        with ExitStack() as stack:
            if self._is_quick:
                for module in (fitting, answers):
                    stack.enter_context(patch.object(module, "in_time", match_here))
            try:
                return (yield)
            finally:
                self._is_quick = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, nextitem: pytest.Item | None) -> None:
        """Let the last test end what others have started for all."""
        self._is_quick = self._is_quick and nextitem is not None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Fail a test that has caught even that."""
        self._started = ""
        result = yield
        if self._started:
            self._fail()
        return result
