"""Journals of format 1, which the released version wrote, are read and gone on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

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
