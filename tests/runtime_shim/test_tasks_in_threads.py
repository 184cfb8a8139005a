"""Tasks know no session: commands and exchanges run in threads, and are cancelled from outside."""

import ast
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.signals import Interrupted, Signals, started_at
from runtime_shim.tasks import exchange as module
from runtime_shim.tasks.commands import run_command
from runtime_shim.tasks.exchange import Call, exchange
from runtime_shim.tasks.process import Processes
from tests.support.process import held_back, wait_until

pytestmark = pytest.mark.process

FOLDER = Path(__file__).parents[2] / "runtime_shim"


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
    return run_command(Processes(cancellation or Cancellation(), False, lambda _group: None), "sh", text, own, seconds)


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
        wait_until(lambda: started.exists() and started.read_text().strip())
        cancellation.event.set()
        with pytest.raises(Interrupted):
            running.result(timeout=20)
    wait_until(lambda: started_at(int(started.read_text())) is None)


def outside_of_performers(tree: ast.Module) -> set[str]:
    """The names that a module reads outside of the classes that do steps for a session."""
    inside = {node for node in tree.body if not (isinstance(node, ast.ClassDef) and "session" in ast.dump(node))}
    inner = (node for part in inside for node in ast.walk(part))
    return {ast.unparse(node) for node in inner if isinstance(node, ast.Attribute)}


def test_what_does_a_task_touches_neither_environment_nor_folder_nor_handlers() -> None:
    performing = ("process", "shell", "commands", "exchange", "verdicts", "recipes")
    for name in (*(f"tasks/{name}" for name in performing), "io/reading"):
        tree = ast.parse((FOLDER / f"{name}.py").read_text())
        assert not outside_of_performers(tree) & {"os.environ", "os.chdir", "signal.signal", "os.umask"}, name


# --- Exchanges: nothing is lost or held up, whatever a process and who is shown its answer do -------------------------


@pytest.fixture
def processes() -> Iterator[Processes]:
    with held_back() as signals:
        yield Processes(signals, False, lambda _group: None)


def call(command: str, given: bytes = b"", shown: Callable[[str], None] = lambda _lines: None) -> Call:
    return Call(command, os.environb, given, shown)


def test_several_exchanges_do_not_wait_for_each_other(processes: Processes) -> None:
    big = b"x" * 500_000
    calls = [call("sleep 0.3; cat; cat", big), call("exec cat", big), call("echo early; exec <&-; sleep 0.1", big)]
    order: list[int] = []
    answers = exchange(processes, calls, 0, order.append)
    assert [len(answered.answer) for answered in answers] == [500_000, 500_000, 6]
    assert not any(answered.trouble for answered in answers)
    assert order[-1] == 0


def test_who_is_shown_the_answer_may_be_slow(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE_AFTER", 0.05)
    seen: list[str] = []

    def slow(lines: str) -> None:
        seen.append(lines)
        time.sleep(0.4 if len(seen) == 1 else 0)

    (answered,) = exchange(processes, [call("echo a; sleep 0.1; seq 1000", shown=slow)], 0)
    assert answered.answer.splitlines()[-1] == b"1000"
    assert "\n".join(seen).splitlines()[-1] == "1000"


def test_what_goes_on_writing_is_not_waited_for(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE_AFTER", 0.1)
    begun = time.monotonic()
    forever = "import time\nfor _ in range(60): print('.', flush=True); time.sleep(0.05)"
    (answered,) = exchange(processes, [call(f'setsid python3 -c "{forever}" & echo OK; sleep 0.2')], 0)
    assert b"OK" in answered.answer
    assert time.monotonic() - begun < 2.5


def test_process_that_cannot_be_begun_ends_those_before_it(processes: Processes) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0  # noqa: PTH208, PTH112
    long = Call("true", {b"A": b"x" * 10_000_000}, b"", lambda _lines: None)
    begun = time.monotonic()
    with pytest.raises(OSError, match="long"):
        exchange(processes, [call("exec sleep 60"), long], 0)
    assert time.monotonic() - begun < 5
    wait_until(lambda: not before or len(os.listdir("/proc/self/fd")) <= before)  # noqa: PTH208 (no pipe stays open)
