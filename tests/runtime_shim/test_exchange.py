"""Exchanges with processes: nothing is lost or held up, whatever the process and who is shown its answer do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

from runtime_shim.tasks import exchange as module
from runtime_shim.tasks.exchange import Call, exchange
from runtime_shim.tasks.process import Processes
from tests.support.process import held_back


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
    deadline = time.monotonic() + 5
    while before and len(os.listdir("/proc/self/fd")) > before:  # noqa: PTH208
        assert time.monotonic() < deadline, "a pipe stays open"
        time.sleep(0.02)
