"""The operator's jump: what it records, what it refuses, and kills and damage around it."""

import json
import os
import random
import re
import signal
import time
from pathlib import Path

import pytest

from compiler.ir.edges import Reset, Set
from compiler.ir.program import Counter, Entering, Group, Jump, Program, Variable
from compiler.ir.texts import text
from runtime_shim.engine.journal import read_journal
from runtime_shim.engine.state import replay
from tests.runtime_shim.operator import codes, unchanged, waiting
from tests.support.process import LOOP, Place, ask, kill, program, shell, wait_until
from tests.support.runtime_programs import ORIGIN, Compiled, edge, node, sh
from tests.support.runtime_programs import program as compiled

pytestmark = pytest.mark.process


def test_goto_moves_a_run_that_waits_and_says_who_and_why(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    moved = place.run("goto", "4", "--by", "ann", "--note", "the disk is full", "--events", "events")
    assert moved.code == 0, moved.err
    assert "moved from 2 to 4 Fix" in moved.err
    assert "to continue: " in moved.last
    assert place.run("resume").code == 0
    assert place.text("log") == "one\nfour\n"
    status = place.run("status").out
    line = r"  GOTO  2 Review, [0-9.]+ s at [0-9: -]+ UTC\n        moved to 4, by ann: the disk is full\n"
    assert re.search(line, status)
    record = place.records()[3]
    assert (record["outcome"], record["next"], record["by"], record["note"]) == ("goto", "4", "ann", "the disk is full")
    event = json.loads(place.text("events"))
    assert (event["event"], event["step"], event["next"], event["by"]) == ("goto", "2", "4", "ann")


def test_goto_takes_up_a_run_that_ended_by_stop_and_no_other(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    place.run("answer", "2", "pass")
    assert place.run("resume", BAD="3").code == 1
    assert place.run("goto", "3").code == 0
    assert place.run("run").last == "rdc: error: an unfinished run is at step 3", "it is live again"
    assert place.run("resume").code == 0
    done = place.run("goto", "1")
    assert (done.code, "the run is complete" in done.last) == (2, True)


def test_goto_is_refused_where_no_step_is_there_or_the_limit_is_reached(tmp_path: Path) -> None:
    place = waiting(tmp_path, program({"Build": ask("COMPLETE")}))
    with unchanged(place):
        assert place.run("goto", "Biuld").last == "rdc: error: there is no step 'Biuld'; did you mean Build?"
        assert place.run("goto", "COMPLETE").code == 2, "an end is no step"
        hostile = place.run("goto", "\x1b[31m")
        assert (hostile.code, "\x1b" in hostile.err) == (2, False)
        assert place.run("goto").last.startswith("rdc: error: missing argument: STEP")
    place.run("reset")
    place.write(program({"1": shell("true", "2"), "2": shell("true", "1")}, limit=2))
    assert place.run("run").code == 1
    refused = place.run("goto", "1")
    assert (refused.code, "the limit of 2 steps was reached; to start a new run: " in refused.last) == (2, True)


def test_goto_and_reset_are_refused_while_the_command_or_its_children_still_run(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("sleep 60 & echo $$ > pid; wait", "2"), "2": ask("COMPLETE")}))
    process = place.start("run")
    pid = int(place.wait_for("pid"))
    assert "another process is using" in place.run("goto", "2").last
    kill(process)
    others = f"processes of its command still run (group {pid}), or another program's if the machine was restarted; "
    for still in (f"its command still runs (pid {pid}); ", others):
        wait_until(lambda: still in place.run("goto", "2").last)  # noqa: B023
        for words in (["goto", "2"], ["reset"]):
            refused = place.run(*words)
            assert (refused.code, still in refused.last, refused.last.split(": ")[-1]) == (2, True, f"kill -- -{pid}")
        os.kill(pid, signal.SIGKILL)
    os.killpg(pid, signal.SIGKILL)
    wait_until(lambda: place.run("goto", "2").code == 0)
    assert place.run("resume").last == "rdc: WAITING 2 Review", "nobody decides about what was left"


def test_goto_gives_a_step_all_its_attempts_again(tmp_path: Path) -> None:
    step = {**LOOP["nodes"]["1"], "command": "echo $RDC_ATTEMPT >> log; kill -KILL $PPID; sleep 0.2"}
    place = Place(tmp_path, {**LOOP, "nodes": {**LOOP["nodes"], "1": step}})
    place.run("run")
    place.run("resume", "--assume", "fail")
    assert place.text("log") == "1\n2\n"
    wait_until(lambda: place.run("goto", "1").code == 0)
    place.run("resume")
    assert place.text("log") == "1\n2\n1\n"


GROUPED: Program = compiled(
    node("1", sh("true"), edge("a.1")),
    node("a.1", sh("echo first >> log"), edge("a.2"), group="a"),
    node("a.2", sh("echo second $COUNT >> log"), group="a", variables=(Variable("COUNT", "n"),)),
    node("w", sh("false"), edge("STOP", "fail", Set("n", 7)), edge("w")),
    groups=(Group("a", text("A"), text(""), "step", "", ORIGIN),),
    counters=(Counter("n", "a", 1),),
    jumps=(Jump("a.2", "a.2", (Entering("a", (Reset("a"),)),)),),
)


def test_goto_enters_groups_as_the_program_says(tmp_path: Path) -> None:
    place = Compiled(tmp_path, GROUPED)
    place.bundle(operator="full")
    assert "jumps={" in place.script.read_text()
    place.run("run", "--prompted")
    assert codes(place, "goto w", "answer w fail", "goto a.2") == [0, 0, 0]
    records = place.records()
    assert records[2]["changed"] == {"n": 7}
    assert records[3]["changed"] == {"n": 1}, "from outside the group it starts over"
    assert place.run("goto", "a.2").code == 0
    assert place.records()[4]["changed"] == {}, "from inside it keeps all"
    assert place.run("goto", "a").code == 0
    assert place.records()[5]["next"] == "a.1", "a group begins at its first step"


def test_a_pause_does_not_apply_after_goto(tmp_path: Path) -> None:
    table = {**LOOP, "nodes": {**LOOP["nodes"]}}
    table["nodes"]["1"] = {**LOOP["nodes"]["1"], "delay": 60, "backoff": 1}
    place = Place(tmp_path, table)
    process = place.start("run")
    wait_until(lambda: place.text("log") == "1\n")
    wait_until(lambda: place.journal.read_text().count("\n") > 2)
    kill(process)
    assert place.run("goto", "1").code == 0
    again = place.start("resume")
    wait_until(lambda: place.text("log") == "1\n1\n")
    kill(again)


def test_goto_that_is_killed_at_any_time_has_moved_the_run_or_not(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    began = time.monotonic()
    assert place.start("goto", "1").wait() == 0
    whole = time.monotonic() - began  # on a busy machine a process takes long to start
    moments, moves = random.Random(3), 1
    for _ in range(6):
        target = moments.choice("1234")
        process = place.start("goto", target)
        time.sleep(moments.uniform(0.1, 2) * whole)
        kill(process)
        status = json.loads(place.run("status", "--json").out)
        found = sum(word.endswith(" goto") for word in place.walk())
        assert found - moves in (0, 1)
        assert status["step"] == (target if found > moves else status["step"])
        moves = found
    assert moves > 1, "some were in time"
    assert codes(place, "goto 4", "resume") == [0, 0]


def test_a_journal_with_a_jump_is_cut_at_any_length(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    before = place.journal.read_bytes()
    place.run("goto", "4", "--by", "ann")
    whole = place.journal.read_bytes()
    for length in range(len(before), len(whole) + 1):
        place.journal.write_bytes(whole[:length])
        records, _ = read_journal(place.journal)
        is_moved = length >= len(whole) - 1  # only its newline is missing
        assert replay(records, "journal").node == ("4" if is_moved else "2")
