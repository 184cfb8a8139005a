"""What an operator drives a Makefile's run with: who and why, moves, prompted runs, notices, several runs."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.driver import compile_file
from compiler.ir.edges import Keep
from compiler.ir.program import Program, Variable
from tests.support import warm
from tests.support.backend_programs import Made, ask, node, program, ref, shell, slots, when, words
from tests.support.makefiles import FLOW, PATIENCE, PLAIN, Place, environment, last_line
from tests.support.runbooks import limited

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

EVIL = ["$(shell touch canary)", "${shell touch canary}$$", "'; touch canary; '", "`touch canary`$(touch canary)"]
EVIL += ['"; touch canary; "', "a & b \\ | 1 end 1 pass 0 0 | %s é", "-n", "=41 by x"]


@pytest.fixture
def flow(tmp_path: Path) -> Place:
    """A Makefile with commands and questions, and all that operators ask for."""
    return Place(tmp_path, FLOW, operator="full")


# --- Who and why, and moves -------------------------------------------------------------------------------------------


def test_a_basic_makefile_needs_no_program_and_a_full_one_calls_it(tmp_path: Path) -> None:
    basic = Place(tmp_path, FLOW)
    assert not (tmp_path / "rdc").exists()
    assert basic.make("goto", "STEP=1").returncode
    full = MakeBackend().emit(_compiled(tmp_path), {"operator": "full"})
    assert full.reason is not None
    assert full.reason.clause == "the option `operator` is `full`"
    assert {companion.option for companion in full.companions} == {"program"}


def _compiled(folder: Path) -> Program:
    found = compile_file(str(folder / "main.runbook.md")).program
    assert found
    return found


@pytest.mark.share(1)
def test_who_and_why_are_texts_and_nothing_else(flow: Place) -> None:
    flow.make()
    whole = " ".join(EVIL)
    assert flow.make("answer", "STEP=2", "REPLY=yes", f"BY={whole}", f"NOTE={whole}").returncode == 0
    assert flow.make("goto", "STEP=3", "BY=-n", "NOTE==41 by x").returncode == 0
    assert flow.make("goto", f"STEP={EVIL[0]}").returncode
    shown = flow.make("status").stdout
    assert f"by {whole}: {whole}" in shown
    assert "by -n: =41 by x" in shown
    assert not list(flow.folder.rglob("canary*"))


def test_who_is_the_user_and_never_the_environment(flow: Place) -> None:
    flow.make(LOGNAME="ann")
    flow.make("answer", "STEP=2", "REPLY=yes", LOGNAME="ann", BY="eve", NOTE="from nowhere", AS="x", PROMPTED="1")
    assert re.search(r"by ann$", flow.make("status").stdout, re.MULTILINE)


def test_an_unfinished_stopped_or_interrupted_run_is_moved_and_no_other(flow: Place) -> None:
    assert "no run has started here" in last_line(flow.make("goto", "STEP=1"))
    flow.make()
    assert "STEP is missing" in last_line(flow.make("goto"))
    before = (flow.state / "journal").read_bytes()
    for step in ("5", "", "2.$(touch canary)"):
        assert flow.make("goto", f"STEP={step}").returncode, step
    assert (flow.state / "journal").read_bytes() == before
    moved = flow.make("goto", "STEP=4", "BY=ann", "NOTE=it was good before")
    assert (moved.returncode, moved.stdout) == (0, "rdc: moved from 2 to 4 Ship it\nrdc: to continue: make resume\n")
    assert flow.lines("log") == ["build"], "it records and stops"
    assert last_line(flow.make("resume")) == "rdc: COMPLETE Out it goes"
    assert "by ann: it was good before" in flow.make("status").stdout
    assert "the run is complete; to start a new run: make run" in last_line(flow.make("goto", "STEP=1"))
    assert not list(flow.folder.rglob("canary*"))


def test_a_hint_that_refuses_can_be_pasted(flow: Place) -> None:
    flow.make()
    printed = flow.make().stdout
    hints = re.findall(r"^rdc: to (?:resume|archive) it: +(make .*)$", printed, re.MULTILINE)
    assert hints == ["make resume", "make reset"]
    assert flow.make(*hints[1].split()[1:]).returncode == 0
    assert last_line(flow.make()) == "rdc: WAITING 2 Look at it"


# --- Prompted ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", [PLAIN, FLOW], ids=["plain", "flow"])
def test_a_prompted_run_executes_nothing(document: str, tmp_path: Path) -> None:
    place = Place(tmp_path, document, operator="full")
    done = place.make("PROMPTED=1")
    assert last_line(done).startswith("rdc: WAITING 1")
    assert "echo build >> log\n" in done.stderr
    for number in range(1, 5):
        answer = re.findall(r"to answer: (make .*)$", done.stdout, re.MULTILINE)[0].split()[1:]
        assert place.make(*answer, "BY=ann").returncode == 0
        done = place.make("resume")
        if done.returncode == 0:
            break
        assert last_line(done).startswith(f"rdc: WAITING {number + 1}")
    assert last_line(done).startswith("rdc: COMPLETE")
    assert place.lines("log") == []
    assert place.make("status").stdout.count("by ann") == number
    assert place.make().returncode == (2 if document == FLOW else 0), "the next run is none"
    assert "build" in place.lines("log")


def test_prompted_belongs_to_the_run(flow: Place) -> None:
    assert last_line(flow.make("PROMPTED=1")).startswith("rdc: WAITING 1")
    assert last_line(flow.make("resume", "PROMPTED=1")) == "rdc: error: resume does not take PROMPTED; leave it out"
    assert flow.make("goto", "STEP=4").returncode == 0
    assert last_line(flow.make("resume")).startswith("rdc: WAITING 4")
    assert flow.lines("log") == []


def valued() -> Program:
    """A command gives a value, which the next one and the end use."""
    return program(
        node("1", shell("echo v=real >> $RDC_OUTPUT"), when("pass", "2", Keep("v", of="output", name="v")),
             when("fail", "stop", Keep("v", of="output", name="v"))),
        node("2", shell('printf %s "$V" > got'), variables=(Variable("V", "v"),)),
        node("3", ask("pass_fail")),
        message=words(ref("v", missing="none")),
        slots=slots("v"),
    )  # fmt: skip


def test_values_are_given_for_commands_that_were_not_run(tmp_path: Path) -> None:
    value = "a=b<<c&\\1 'x' \"y\" $(touch canary) `touch canary` é"
    made = Made(tmp_path, valued(), operator="full")
    assert made.end("PROMPTED=1") == "rdc: WAITING 1"
    for wrong in ("v", "v<<X", "w=1"):
        assert made.end("answer", "STEP=1", "REPLY=pass", f"VALUE={wrong}").startswith("rdc: error: VALUE")
    assert made.make("answer", "STEP=1", "REPLY=pass", f"VALUE=v=first\nv={value}\n").returncode == 0
    assert made.end("resume") == "rdc: WAITING 2"
    assert made.end("answer", "STEP=2", "REPLY=pass", "VALUE=v=1").startswith("rdc: error: VALUE=v=1: expected")
    assert made.make("answer", "STEP=2", "REPLY=pass").returncode == 0
    assert made.end("resume") == f"rdc: COMPLETE {value}".rstrip()
    assert not list(tmp_path.rglob("canary*"))


def test_a_value_of_several_lines_is_given_as_a_command_writes_it(tmp_path: Path) -> None:
    made = Made(tmp_path, valued())
    kill = "kill -9 $PPID"
    whole = valued()
    first = node("1", shell(kill), *whole.nodes[0].edges)
    made = Made(tmp_path, program(first, *whole.nodes[1:3], message=words(ref("v", missing="none")), slots=slots("v")))
    made.make()
    assert made.end("resume", "ASSUME=pass", "VALUE=v<<E\none\n it's\nE") == "rdc: COMPLETE one it's"
    assert made.read("got") == b"one\n it's"


def test_the_hint_shows_how_a_command_that_writes_values_is_answered(tmp_path: Path) -> None:
    made = Made(tmp_path, valued(), operator="full")
    printed = made.make("PROMPTED=1", "AS=x").stdout.decode()
    hint = re.findall("with outputs: (.*)", printed)[0]
    assert hint == "make answer STEP=1 REPLY=pass VALUE=v=… AS=x".replace("v=…", "'v=…'")
    subprocess.run(["sh", "-c", hint], cwd=tmp_path, env=warm.forking(environment({})), check=True, capture_output=True)
    printed = made.make("resume", "AS=x").stdout.decode()
    assert "to answer: make answer STEP=2 REPLY=pass AS=x" in printed
    assert "with outputs" not in printed, "this command writes none"


# --- Notices ----------------------------------------------------------------------------------------------------------


def test_a_command_is_told_when_the_run_waits_or_ends(flow: Place) -> None:
    notify = "NOTIFY=cat >> noticed; echo noise; exit 9"
    assert last_line(flow.make(notify)) == "rdc: WAITING 2 Look at it"
    flow.make("answer", "STEP=2", "REPLY=no")
    assert last_line(flow.make("resume", notify)) == "rdc: STOP It is bad"
    noticed = [json.loads(line) for line in flow.lines("noticed")]
    assert [(one["event"], one.get("step"), one.get("message")) for one in noticed] == [
        ("run_waiting", "2", None),
        ("run_finished", None, "It is bad"),
    ]


# --- Several runs -----------------------------------------------------------------------------------------------------


def test_runs_stand_beside_each_other(flow: Place) -> None:
    assert last_line(flow.make()) == "rdc: WAITING 2 Look at it"
    done = flow.make("AS=eu-west.1")
    assert last_line(done) == "rdc: WAITING 2 Look at it"
    hint = re.findall("to answer: (.*)", done.stdout)[0].replace("yes", "no")
    assert hint == "make answer STEP=2 REPLY=no AS=eu-west.1"
    subprocess.run(
        ["sh", "-c", hint], cwd=flow.folder, env=warm.forking(environment({})), check=True, capture_output=True
    )
    assert last_line(flow.make("AS=eu-west.1", "resume")) == "rdc: STOP It is bad"
    listed = flow.make("status", "ALL=1").stdout.splitlines()
    assert [line.split()[:2] for line in listed] == [["-", "WAITING"], ["eu-west.1", "STOP"]]
    assert {path.name for path in (flow.folder / ".rdc").iterdir()} == {"main", "main@eu-west.1"}
    assert flow.make("AS=eu-west.1", "clean").returncode == 0
    assert "No run has started here." in flow.make("AS=eu-west.1", "status").stdout


def test_what_must_be_given_again_is_in_the_commands_that_are_printed(flow: Place) -> None:
    flow.make("AS=x")
    done = flow.make("AS=x", "resume", "NOTIFY=cat >> noticed")
    hint = re.findall("to continue: (.*)", done.stdout)[0]
    assert hint == "make resume AS=x", "a run keeps its notices"
    subprocess.run(
        ["sh", "-c", hint], cwd=flow.folder, env=warm.forking(environment({})), check=False, capture_output=True
    )
    assert len(flow.lines("noticed")) == 2


@pytest.mark.share(1)
def test_the_name_of_a_run_leads_nowhere(flow: Place) -> None:
    for verb, name in (("run", "../x"), ("status", EVIL[0]), ("goto", EVIL[1]), ("clean", "../x")):
        done = flow.make(verb, f"AS={name}", *(["STEP=1"] * (verb == "goto")))
        assert "rdc: error: AS " in done.stdout, done.stdout
    assert {path.name for path in flow.folder.iterdir()} <= {"Makefile", "main.runbook.md", "rdc.toml", "rdc"}
    assert "No run has started" in flow.make("status", f"AS={'x' * 64}").stdout


def test_history_lists_and_prunes(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN, operator="full")
    assert place.make("history").stdout == "No run has ended here.\n"
    for _ in range(3):
        place.make()
    listed = place.make("history").stdout.splitlines()
    assert len(listed) == 3
    run = listed[-1].split()[4]
    assert f"run {run}, ended " in place.make("history", f"RUN_ID={run}").stdout
    assert f"| Run | {run} of " in place.make("report", f"RUN_ID={run}").stdout
    assert last_line(place.make("history", "KEEP=1;touch canary")).startswith("rdc: error: KEEP ")
    assert place.make("history", "KEEP=1").stdout == "Deleted 1 of 2 archived runs.\n"
    assert place.make("history").stdout.splitlines() == listed[:2]
    assert not list(tmp_path.rglob("canary*"))


# --- Elsewhere --------------------------------------------------------------------------------------------------------


def test_a_terminal_asks_and_takes_answers(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW, operator="full")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        ["make"], cwd=tmp_path, env=environment({}), stdin=slave, stdout=subprocess.PIPE, stderr=slave, text=True
    )
    os.close(slave)
    for prompt, reply in (("2 Look at it: [yes/no] ", "yes\n"), ("[pass/fail] ", "pass\n")):
        shown = ""
        while not shown.endswith(prompt):
            shown += os.read(master, 4096).decode()
        os.write(master, reply.encode())
    printed, _ = process.communicate(timeout=PATIENCE)
    os.close(master)
    assert printed == "rdc: COMPLETE Out it goes\n"
    assert place.lines("log")[0] == "build"


# --- Checklists -------------------------------------------------------------------------------------------------------


@pytest.mark.share(1)
def test_items_of_a_checklist_are_confirmed_by_make(tmp_path: Path) -> None:
    document = "# A\n\n## 1. Ready\n\n- [ ] $(shell touch canary)\n- [ ] two $$HOME #\n\n## 2. Go\n\n```sh\ntrue\n```\n"
    place = Place(tmp_path, document)
    shown = last_line(place.make())
    assert shown == "rdc: WAITING 1 Ready"
    refused = place.make("answer", "STEP=1", "REPLY=pass")
    assert refused.returncode
    assert "make answer STEP=1 REPLY=done ITEM=1" in refused.stdout + refused.stderr
    assert place.make("answer", "STEP=1", "REPLY=done", "ITEM=1", "BY=ann").returncode == 0
    assert place.make("answer", "STEP=1", "REPLY=n/a: $(shell touch canary)", "ITEM=2").returncode == 0
    status = place.make("status").stdout
    assert "[x] 1. $(shell touch canary), by ann" in status
    assert "[-] 2. two $$HOME #, n/a: $(shell touch canary), by" in status
    assert last_line(place.make("resume")) == "rdc: COMPLETE"
    assert not list(tmp_path.rglob("canary*"))
    place.make()
    assert place.make("answer", "STEP=1", "REPLY=pass", "ALL=1").returncode == 0


# --- Limits of visits -------------------------------------------------------------------------------------------------


@pytest.mark.share(1)
def test_a_run_at_a_limit_of_visits_is_continued(tmp_path: Path) -> None:
    place = Place(tmp_path, limited(1))
    (tmp_path / "no").write_text("no\n")
    assert last_line(place.make("run", "ANSWERS=no")) == "rdc: STOP enough"
    assert "make resume MAX_VISITS=2" in place.make("status").stdout
    assert last_line(place.make("resume", "MAX_VISITS=1")).startswith("rdc: error: MAX_VISITS 1: step 1 has had 1")
    assert last_line(place.make("resume", "MAX_VISITS=2")) == "rdc: WAITING 1 Good?"
