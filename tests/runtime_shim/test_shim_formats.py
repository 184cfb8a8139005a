"""Journals of format 1, which the released version wrote, are read and gone on with."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from runtime_shim.journal import encode
from runtime_shim.leftover import is_alive, started_at
from tests.runtime_shim.shim_process import Place, Table, ask, program, shell

JOURNALS = Path(__file__).parent / "journals"
WAITING = program({"1": shell("true", "2"), "2": ask("3"), "3": shell("true", "COMPLETE")}, {"n": 0})
INTERRUPTED = program({"1": shell("kill -9 $PPID; exit 3", "COMPLETE")})


def place_with(path: Path, table: Table, name: str) -> Place:
    place = Place(path, table)
    place.journal.parent.mkdir(parents=True)
    shutil.copy(JOURNALS / name, place.journal)
    return place


def test_run_that_waits_is_answered_and_ends(tmp_path: Path) -> None:
    place = place_with(tmp_path, WAITING, "format1-waiting")
    assert place.records()[0]["format"] == 1
    before = place.journal.read_bytes()
    assert json.loads(place.run("status", "--json").out)["state"] == "waiting"
    assert place.run("answer", "2", "pass").code == 0
    result = place.run("resume")
    assert (result.code, result.last) == (0, "rdc: COMPLETE all done")
    assert place.walk() == ["1 pass", "2 pass", "3 pass"]
    assert place.journal.read_bytes().startswith(before)
    assert place.run("run").code == 75
    assert place.records()[0]["format"] == 2


def test_run_that_was_interrupted_is_decided_about(tmp_path: Path) -> None:
    place = place_with(tmp_path, INTERRUPTED, "format1-interrupted")
    assert "INTERRUPTED at 1" in place.run("status").out
    assert place.run("resume").code == 75
    assert place.run("resume", "--assume", "fail").last == "rdc: STOP gave up"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only /proc tells when a process began")
def test_command_that_outlived_an_older_program_is_not_run_beside_itself(tmp_path: Path) -> None:
    place = place_with(tmp_path, INTERRUPTED, "format1-interrupted")
    command = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        began, (begin, process) = started_at(command.pid), place.records()
        assert began is not None
        for later, lives in ((0, True), (5, True), (6, False)):  # it wrote when it asked, a little later
            note = {**process, "pid": command.pid, "since": began + later}
            place.journal.write_bytes(encode(begin) + encode(note))
            assert (f"still runs (pid {command.pid})" in place.run("resume").err) == lives
        place.journal.write_bytes(encode(begin) + encode({**process, "pid": command.pid, "since": began + 1}))
        assert place.run("resume", "--assume", "pass").code == 2
        place.run("resume", "--rerun-interrupted")
        assert command.wait(10) == -signal.SIGTERM, "it is ended before it is run again"
    finally:
        command.kill()
        command.wait()


@pytest.mark.parametrize("pid", [0, 1, -1, "self", "1/../self", None])
def test_what_no_command_can_be_is_not_taken_for_one(pid: object) -> None:
    """A journal that somebody has made up must not have the system's own processes signalled."""
    since = started_at(pid)  # type: ignore[arg-type] # that is the point
    assert not is_alive({"pid": pid, "since": since if since is not None else 0})
