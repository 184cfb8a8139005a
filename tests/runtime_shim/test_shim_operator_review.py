"""What operators meet at three in the morning: endless output, hanging notices, foreign files, decisions of nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime_shim.logs import LONGEST_LINE, Log
from tests.runtime_shim.shim_process import Place, Screen, ask, kill, program, shell, wait_until
from tests.runtime_shim.shim_programs import Compiled, Keep, Variable, edge, node, sh
from tests.runtime_shim.shim_programs import program as compiled


def logs(place: Place) -> dict[str, str]:
    """The logs of a run."""
    return {path.name: path.read_text() for path in sorted((place.journal.parent / "logs").iterdir())}


# --- goto -------------------------------------------------------------------------------------------------------------


def test_goto_does_not_take_a_run_beyond_its_limit(tmp_path: Path) -> None:
    units = {"1": shell("true", "2"), "2": shell("true", "1")}
    place = Place(tmp_path, program(units, limit=2))
    assert place.run("run").code == 1
    refused = place.run("goto", "1")
    assert (refused.code, "the limit of 2 units was reached; begin a new run" in refused.last) == (2, True)


# --- Logs -------------------------------------------------------------------------------------------------------------


def test_a_log_of_a_command_that_prints_no_line_end(tmp_path: Path) -> None:
    command = "head -c 10000000 /dev/zero | tr '\\0' x"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    done = place.run("run", "--logs", "--log-limit", "4k")
    assert len(done.out) == 10_000_000
    assert logs(place) == {"001-1.log": "x" * 4096}


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


def test_the_log_of_an_interrupted_command_is_continued(tmp_path: Path) -> None:
    place = Place(
        tmp_path, program({"1": shell("echo once; [ -e f ] || { touch f; kill -INT $PPID; sleep 9; }", "COMPLETE")})
    )
    assert place.run("run", "--logs").code == 130
    assert logs(place) == {"001-1.log": "once\n"}
    assert place.run("resume", "--logs", "--rerun-interrupted").code == 0
    assert logs(place) == {"001-1.log": "once\nonce\n"}


@pytest.mark.parametrize(
    "before", [LONGEST_LINE - 3, LONGEST_LINE - (1 << 17) - 2, LONGEST_LINE + (1 << 17) - 3, 70_000]
)
def test_a_secret_is_masked_wherever_the_pieces_of_an_endless_line_end(
    before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "hunter2hunter2"
    monkeypatch.setattr("runtime_shim.session.MASKS", [lambda text: text.replace(secret, "***")])
    monkeypatch.setattr("runtime_shim.logs.MASKS", [None])
    data = ("x" * before + secret + "y" * 3_000_000).encode()
    log = Log(str(tmp_path / "logs" / "1"), 1 << 30)
    for place in range(0, len(data), 65_536):
        log._keep(data[place : place + 65_536], False)
    log._keep(b"", True)
    kept = (tmp_path / "logs" / "1").read_text()
    assert kept == "x" * before + "***" + "y" * 3_000_000


def test_a_log_that_cannot_be_kept_leaves_the_unit_to_be_begun(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": shell("touch ran", "COMPLETE")}))
    place.run("run")
    (place.journal.parent / "logs").write_text("a file")
    place.run("answer", "1", "pass")
    refused = place.run("resume", "--logs")
    assert (refused.code, "logs" in refused.last) == (2, True)
    assert not (tmp_path / "ran").exists()
    assert place.run("resume").code == 0, "nobody need decide about it"


# --- Who and why ------------------------------------------------------------------------------------------------------


def test_a_signature_without_a_decision_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}))
    place.run("run")
    before = place.records()
    for words in (("--by", "ann"), ("--note", "why")):
        refused = place.run("resume", *words)
        assert (refused.code, f"{words[0]} signs a decision" in refused.last) == (2, True)
    assert place.records() == before


def test_an_answer_at_the_terminal_says_whose_it_is(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": ask("COMPLETE")}))
    for words, reply, code in ((("run",), "p\n", 75), (("resume", "--by", "bob"), "p\n", 0)):
        screen = Screen([str(place.script), *words], tmp_path, place.environment(LOGNAME="ann"))
        screen.expect(r"pass\? \[pass/fail\]")
        screen.type(reply)
        if code:
            screen.expect(r"pass\? \[pass/fail\]")
            screen.type(b"\x04")
        assert screen.close() == code
    assert [record["by"] for record in place.records() if record["kind"] == "done"] == ["ann", "bob"]


# --- Values of commands that are done by hand -------------------------------------------------------------------------


def by_hand(tmp_path: Path) -> Compiled:
    keep = (Keep("id", "value", "id"), Keep("other", "value", "other"))
    return Compiled(tmp_path, compiled(
        node("1", sh('echo "id=$(make_one)" > "$RDC_OUTPUT"'), edge("2", None, *keep)),
        node("2", sh('printf "%s" "$id" > used'), variables=(Variable("id", "id"),)),
        slots=("id", "other"),
    ))  # fmt: skip


@pytest.mark.parametrize(("typed", "value"), [("two words\n", "two words"), ("\n", None)])
def test_values_are_asked_for_at_the_terminal(typed: str, value: str | None, tmp_path: Path) -> None:
    place = by_hand(tmp_path)
    screen = Screen([str(place.script), "run", "--prompted"], tmp_path, place.environment())
    screen.expect(r"Did 1[^?]*\? \[pass/fail\]")
    screen.type("p\n")
    screen.expect(r"id \(empty: the command gave none\): ")
    screen.type(typed)
    screen.expect(r"Did 2[^?]*\? \[pass/fail\]")
    screen.type("p\n")
    assert screen.close() == 0
    assert place.slots() == {"id": value, "other": None}, "the command names one of the two"


def test_a_value_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    place = by_hand(tmp_path)
    place.run("run", "--prompted")
    refused = place.run("answer", "1", "pass", "--value", "id=\udcff")
    assert (refused.code, refused.last) == (2, "rdc: error: --value id is not UTF-8")


# --- Archives ---------------------------------------------------------------------------------------------------------


def archived(tmp_path: Path) -> tuple[Place, Path]:
    """A place with an archived run."""
    place = Place(tmp_path, program({"1": shell("true", "COMPLETE")}))
    place.run("run", "--logs")
    place.run("run")
    return place, place.journal.parent / "history"


def test_prune_deletes_no_file_that_is_no_archive(tmp_path: Path) -> None:
    place, history = archived(tmp_path)
    (history / "notes.txt").write_text("mine")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "log").write_text("mine")
    (journal,) = (path for path in history.iterdir() if path.suffix == "" and path.is_file())
    (logs_,) = history.glob("*.logs")
    for path in logs_.iterdir():
        path.unlink()
    logs_.rmdir()
    logs_.symlink_to(tmp_path / "elsewhere")
    assert len(place.run("history").out.splitlines()) == 1
    assert place.run("history", "--prune", "0").out == "1 of 1 archived runs were deleted.\n"
    assert not journal.exists()
    assert (history / "notes.txt").exists()
    assert (tmp_path / "elsewhere" / "log").exists()


def test_prune_follows_no_link(tmp_path: Path) -> None:
    place, history = archived(tmp_path)
    history.rename(tmp_path / "moved")
    history.symlink_to(tmp_path / "moved")
    refused = place.run("history", "--prune", "0")
    assert (refused.code, "history is a link" in refused.last) == (2, True)
    assert list((tmp_path / "moved").iterdir())


# --- Notices ----------------------------------------------------------------------------------------------------------


def test_a_notice_that_hangs_is_left_when_the_run_is_told_to_end(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}))
    process = place.start("run", "--notify", "touch begun; sleep 60")
    try:
        wait_until((tmp_path / "begun").exists)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 75
        assert time.monotonic() - begun < 5
    finally:
        kill(process)
