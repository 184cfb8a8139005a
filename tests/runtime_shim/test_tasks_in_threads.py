"""Tasks know no session (rule 6): commands and exchanges run in threads, and are cancelled from outside."""

from __future__ import annotations

import ast
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.signals import Interrupted, Signals, started_at
from runtime_shim.tasks.commands import run_command
from runtime_shim.tasks.exchange import Call, exchange
from runtime_shim.tasks.process import Processes

TASKS = Path(__file__).parents[2] / "runtime_shim" / "tasks"


class Cancellation(Signals):
    """What another engine may wait by: no signal is handled, processes are looked at until they have ended."""

    def __init__(self) -> None:  # without that of signals, which only the main thread may handle
        self.before, self.stops, self.has_received, self.is_key = set(), {signal.SIGTERM}, False, False
        self.event, self.has_timer, self._deadline, self._is_told = threading.Event(), False, 0.0, False

    def wait(self) -> int:
        if self.event.wait(0 if self._is_told else 0.01) and not self._is_told:
            self._is_told = True
            return signal.SIGTERM
        time.sleep(0.01 if self._is_told else 0)
        return signal.SIGALRM if self.has_timer and time.monotonic() > self._deadline else signal.SIGCHLD

    def wake_after(self, seconds: int) -> None:
        self.has_timer, self._deadline = bool(seconds), time.monotonic() + seconds


def run(text: str, seconds: int = 0, cancellation: Cancellation | None = None, **environment: str) -> Done:
    own = {b"PATH": os.environb[b"PATH"], **{key.encode(): value.encode() for key, value in environment.items()}}
    processes = Processes(cancellation or Cancellation(), False, lambda _group: None)
    return run_command(processes, "sh", text, own, seconds)


def around() -> tuple[object, ...]:
    """What a task must leave alone: handlers, blocked signals, folder and environment."""
    handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
    return handlers, signal.pthread_sigmask(signal.SIG_BLOCK, ()), Path.cwd(), dict(os.environ)


def test_commands_run_in_many_threads_each_with_its_outcome() -> None:
    before = around()
    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(run, f"cd /; sleep 0.0$((N % 3)); exit $((N % 4))", N=str(n)) for n in range(40)]  # noqa: F541 (sh reads it)
        found = [(each.result().outcome, each.result().how) for each in done]
    assert found == [("fail", f"exit code {n % 4}") if n % 4 else ("pass", "") for n in range(40)]
    assert around() == before


def test_exchanges_in_threads_get_their_own_answers() -> None:
    def ask(number: int) -> bytes:
        processes = Processes(Cancellation(), False, lambda _group: None)
        call = Call("cat; printf $N", {b"N": b"%d" % number}, b"question ", lambda _lines: None)
        return exchange(processes, [call], 0)[0].answer

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(24))) == [b"question %d" % number for number in range(24)]


def test_a_command_in_a_thread_has_a_time_limit() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run, "sleep 60", 1).result() == Done("fail", "timeout after 1.0 s")


def test_a_command_in_a_thread_is_cancelled_with_all_that_it_began(tmp_path: Path) -> None:
    cancellation, started = Cancellation(), tmp_path / "pid"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, f"sleep 60 & echo $! > {started}; wait", cancellation=cancellation)
        while not (started.exists() and started.read_text().strip()):
            time.sleep(0.01)
        cancellation.event.set()
        with pytest.raises(Interrupted):
            running.result(timeout=20)
    deadline = time.monotonic() + 10
    while started_at(int(started.read_text())) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def outside_of_performers(tree: ast.Module) -> set[str]:
    """The names that a module reads outside of the classes that do steps for a session."""
    apart = {
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any("session" in ast.dump(n) for n in ast.walk(node))
    }
    inner = (node for part in tree.body if part not in apart for node in ast.walk(part))
    return {ast.unparse(node) for node in inner if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("name", ["process", "shell", "commands", "exchange", "reading", "verdicts", "recipes"])
def test_what_does_a_task_touches_neither_environment_nor_folder_nor_handlers(name: str) -> None:
    tree = ast.parse((TASKS / f"{name}.py").read_text())
    assert not outside_of_performers(tree) & {"os.environ", "os.chdir", "signal.signal", "os.umask"}
