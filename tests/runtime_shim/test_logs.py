"""Logs of what commands print, and notices of where a run stands."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runtime_shim.engine.display import Display
from runtime_shim.operator import notices
from runtime_shim.operator.masked_logs import LONGEST_LINE
from runtime_shim.operator.sized_logs import SizedLogs
from tests.runtime_shim.operator import TWO, ended, logs
from tests.support.process import Place, ask, held_back, program, shell, wait_until

pytestmark = pytest.mark.process


def test_logs_keep_what_commands_print_in_its_order(tmp_path: Path) -> None:
    command = "echo one; echo two >&2; echo three; exit 4"
    place = Place(tmp_path, program({"../a b/%": shell(command, "COMPLETE", "4"), "4": shell("true", "COMPLETE")}))
    assert place.run("run", "--logs").out == "one\ntwo\nthree\n", "it is shown as before"
    assert logs(place) == {"001-..%2Fa b%2F%25.log": "one\ntwo\nthree\n", "002-4.log": ""}
    assert place.run("run").code == 0
    assert len(list((place.journal.parent / "history").glob("*.logs"))) == 1, "logs go with their run"


@pytest.mark.parametrize(
    ("command", "whole"),
    [
        ("seq 1 100000", "".join(f"{number}\n" for number in range(1, 100001))),
        ("head -c 5000000 /dev/zero | tr '\\0' x", "x" * 5_000_000),
    ],
    ids=["lines", "no line end"],
)
def test_a_log_has_a_limit_and_keeps_the_end(tmp_path: Path, command: str, whole: str) -> None:
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    assert place.run("run", "--logs", "--log-limit", "1k").out == whole
    assert logs(place) == {"001-1.log": whole[-1024:]}
    assert place.run("run", "--logs", "--log-limit", "many").code == 2


def test_what_is_left_in_the_background_holds_no_log_up(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("(sleep 30) & echo begun", "COMPLETE")}))
    begun = time.monotonic()
    assert place.run("run", "--logs").code == 0
    assert time.monotonic() - begun < 10
    assert logs(place) == {"001-1.log": "begun\n"}


def test_what_prints_in_the_background_for_ever_holds_no_run_up(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("yes & echo $! > pid", "COMPLETE")}))
    process = subprocess.Popen(
        [sys.executable, "-S", str(place.script), "run", "--logs"], cwd=tmp_path, env=place.environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        os.kill(int(place.text("pid")), signal.SIGKILL)


@pytest.mark.parametrize(
    "before", [LONGEST_LINE - 3, LONGEST_LINE - (1 << 17) - 2, LONGEST_LINE + (1 << 17) - 3, 70_000]
)
def test_a_secret_is_masked_wherever_the_pieces_of_an_endless_line_end(before: int, tmp_path: Path) -> None:
    secret = "hunter2hunter2"
    data = ("x" * before + secret + "y" * 3_000_000).encode()
    options = SimpleNamespace(log_limit="1g")
    logs = SizedLogs(cast("Any", SimpleNamespace(options=options, mask=lambda text: text.replace(secret, "***"))))
    logs.before_run(None)
    log = os.open(tmp_path / "log", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    for place in range(0, len(data), 65_536):
        logs.keep(log, data[place : place + 65_536])
    logs.keep(log, b"")
    assert (tmp_path / "log").read_text() == "x" * before + "***" + "y" * 3_000_000


def test_a_log_that_cannot_be_kept_leaves_the_step_to_be_begun(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": shell("touch ran", "COMPLETE")}))
    place.run("run")
    (place.journal.parent / "logs").write_text("a file")
    place.run("answer", "1", "pass")
    refused = place.run("resume", "--logs")
    assert (refused.code, "logs" in refused.last) == (2, True)
    assert not (tmp_path / "ran").exists()
    assert place.run("resume").code == 0, "nobody need decide about it"


def test_a_log_that_fails_does_not_end_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    def fail(*_given: Any) -> None:
        raise ValueError

    logs = SizedLogs(cast("Any", SimpleNamespace(display=Display(sys.stderr))))
    logs.keep = fail  # type: ignore[method-assign, assignment]
    source, sink = os.pipe()
    copier = threading.Thread(target=logs._copy, args=(source, os.open(os.devnull, os.O_RDWR), [0] * 999))
    copier.start()
    for _ in range(9):
        os.write(sink, b"x" * 65_536)
    os.close(sink)
    copier.join(10)
    assert len(capfd.readouterr().out) == 9 * 65_536


def test_a_notice_tells_of_waiting_and_of_the_end(tmp_path: Path) -> None:
    place = Place(tmp_path, TWO)
    words = ("--notify", "cat >> noticed; echo no''ise; echo no''ise >&2; exit 5")
    done = place.run("run", *words)
    assert done.code == 75
    assert done.last.startswith("rdc: WAITING"), "the last line stays the last one"
    assert "--notify: exit code 5" in done.err
    assert "noise" not in done.out + done.err
    place.run("answer", "2", "pass")
    assert place.run("resume", *words).code == 0
    events = [json.loads(line) for line in place.text("noticed").splitlines()]
    assert [event["event"] for event in events] == ["run_waiting", "run_finished"]
    assert (events[0]["step"], events[1]["result"], events[1]["message"]) == ("2", "complete", "all done")


def test_a_notice_that_hangs_is_left_when_the_run_is_told_to_end(tmp_path: Path) -> None:
    process = Place(tmp_path, program({"1": ask("COMPLETE")})).start("run", "--notify", "touch begun; sleep 60")
    wait_until((tmp_path / "begun").exists)
    begun = time.monotonic()
    assert ended(process, signal.SIGINT)[0] == 75
    assert time.monotonic() - begun < 5


def test_a_notice_is_left_even_if_that_is_told_as_soon_as_it_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = os.posix_spawnp

    def interrupted(*given: Any, **named: Any) -> int:
        pid = begin(*given, **named)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        return pid

    monkeypatch.setattr(os, "posix_spawnp", interrupted)
    monkeypatch.setattr(notices, "NOTICE_SECONDS", 5)
    begun = time.monotonic()
    with held_back() as signals:
        shown = notices._told(cast("Any", SimpleNamespace(signals=signals)), "sleep 60", b"")
    assert shown.startswith("the command was stopped")
    assert time.monotonic() - begun < 4
