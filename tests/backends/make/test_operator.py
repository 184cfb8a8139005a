"""What an operator drives a Makefile's run with: who and why, moves, prompted runs, notices, several runs."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.ir.edges import Keep
from compiler.ir.program import Program, Variable
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Task
from tests.backends.make.loops import Terminal
from tests.support import warm
from tests.support.backend_programs import Made, ask, node, program, ref, shell, slots, when, words
from tests.support.documents import program_at
from tests.support.makefiles import FLOW, PLAIN, Place, environment, last_line
from tests.support.runbooks import limited

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

EVIL = ["$(shell touch canary)", "${shell touch canary}$$", "'; touch canary; '", "`touch canary`$(touch canary)"]
EVIL += ['"; touch canary; "', "a & b \\ | 1 end 1 pass 0 0 | %s é", "-n", "=41 by x"]


@pytest.fixture
def flow(tmp_path: Path) -> Place:
    """A Makefile with commands and questions, and all that operators ask for."""
    return Place(tmp_path, FLOW, operator="full")


def test_a_basic_makefile_needs_no_program_and_a_full_one_calls_it(tmp_path: Path) -> None:
    basic = Place(tmp_path, FLOW)
    assert not (tmp_path / "rdc").exists()
    assert basic.make("goto", "STEP=1").returncode
    full = MakeBackend().emit(program_at(tmp_path / "main.runbook.md"), {"operator": "full"})
    assert full.reason
    assert full.reason.clause == "the option `operator` is `full`"
    assert {companion.option for companion in full.companions} == {"program"}


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
    hints = re.findall(r"^rdc: to (?:resume|archive) it: +(make .*)$", flow.make().stdout, re.MULTILINE)
    assert (hints, flow.make("reset").returncode) == (["make resume", "make reset"], 0)
    assert last_line(flow.make()) == "rdc: WAITING 2 Look at it"
    assert "STEP is missing" in last_line(flow.make("goto"))
    before = (flow.state / "journal").read_bytes()
    for step in ("5", "", "2.$(touch canary)"):
        assert flow.make("goto", f"STEP={step}").returncode, step
    assert (flow.state / "journal").read_bytes() == before
    moved = flow.make("goto", "STEP=4", "BY=ann", "NOTE=it was good before")
    assert (moved.returncode, moved.stdout) == (0, "rdc: moved from 2 to 4 Ship it\nrdc: to continue: make resume\n")
    assert flow.lines("log") == ["build", "build"], "it records and stops"
    assert last_line(flow.make("resume")) == "rdc: COMPLETE Out it goes"
    assert "by ann: it was good before" in flow.make("status").stdout
    assert "the run is complete; to start a new run: make run" in last_line(flow.make("goto", "STEP=1"))
    assert not list(flow.folder.rglob("canary*"))


@pytest.mark.parametrize("document", [PLAIN, FLOW], ids=["plain", "flow"])
def test_a_prompted_run_executes_nothing(document: str, tmp_path: Path) -> None:
    place = Place(tmp_path, document, operator="full")
    done = place.make("PROMPTED=1")
    assert last_line(done).startswith("rdc: WAITING 1")
    assert "echo build >> log\n" in done.stderr
    refused = "rdc: error: resume does not take PROMPTED; leave it out"
    assert last_line(place.make("resume", "PROMPTED=1")) == refused, "it belongs to the run"
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
    printed = made.make("PROMPTED=1").stdout.decode()
    assert printed.endswith("rdc: WAITING 1\n")
    assert "with outputs: make answer STEP=1 REPLY=pass VALUE='v=…'\n" in printed
    for wrong in ("v", "v<<X", "w=1"):
        assert made.end("answer", "STEP=1", "REPLY=pass", f"VALUE={wrong}").startswith("rdc: error: VALUE")
    assert made.make("answer", "STEP=1", "REPLY=pass", f"VALUE=v=first\nv={value}\n").returncode == 0
    printed = made.make("resume").stdout.decode()
    assert "to answer: make answer STEP=2 REPLY=pass\n" in printed
    assert "with outputs" not in printed, "this command writes none"
    assert made.end("answer", "STEP=2", "REPLY=pass", "VALUE=v=1").startswith("rdc: error: VALUE=v=1: expected")
    assert made.make("answer", "STEP=2", "REPLY=pass").returncode == 0
    assert made.end("resume") == f"rdc: COMPLETE {value}".rstrip()
    assert not list(tmp_path.rglob("canary*"))


def test_a_value_of_several_lines_is_given_as_a_command_writes_it(tmp_path: Path) -> None:
    first, *others = valued().nodes
    killed = node("1", shell("kill -9 $PPID"), *first.edges)
    made = Made(tmp_path, program(killed, *others[:2], message=words(ref("v", missing="none")), slots=slots("v")))
    made.make()
    assert made.end("resume", "ASSUME=pass", "VALUE=v<<E\none\n it's\nE") == "rdc: COMPLETE one it's"
    assert made.read("got") == b"one\n it's"


def test_runs_stand_beside_each_other_and_keep_their_notices(flow: Place) -> None:
    assert last_line(flow.make()) == "rdc: WAITING 2 Look at it"
    done = flow.make("AS=eu-west.1", "NOTIFY=cat >> noticed; echo noise; exit 9")
    assert last_line(done) == "rdc: WAITING 2 Look at it"
    hints = re.findall("to (?:answer|continue): (.*)", done.stdout)
    assert hints[1:] == ["make answer STEP=2 REPLY=no AS=eu-west.1", "make resume AS=eu-west.1"]
    env = warm.forking(environment({}))
    for hint in hints[1:]:
        subprocess.run(["sh", "-c", hint], cwd=flow.folder, env=env, check=False, capture_output=True)
    noticed = [json.loads(line) for line in flow.lines("noticed")]
    assert [(one["event"], one.get("step"), one.get("message")) for one in noticed] == [
        ("run_waiting", "2", None),
        ("run_finished", None, "It is bad"),
    ]
    listed = flow.make("status", "ALL=1").stdout.splitlines()
    assert [line.split()[:2] for line in listed] == [["-", "WAITING"], ["eu-west.1", "STOP"]]
    assert {path.name for path in (flow.folder / ".rdc").iterdir()} == {"main", "main@eu-west.1"}
    assert flow.make("AS=eu-west.1", "clean").returncode == 0
    assert "No run has started here." in flow.make("AS=eu-west.1", "status").stdout


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


def test_a_terminal_asks_and_takes_answers(flow: Place) -> None:
    terminal = Terminal(flow)
    terminal.answer("yes\n", after="2 Look at it: [yes/no] ")
    terminal.answer("pass\n", after="[pass/fail] ")
    assert (terminal.end(), flow.lines("log")[0]) == ("rdc: COMPLETE Out it goes", "build")


@pytest.mark.share(1)
def test_items_of_a_checklist_are_confirmed_by_make(tmp_path: Path) -> None:
    document = "# A\n\n## 1. Ready\n\n- [ ] $(shell touch canary)\n- [ ] two $$HOME #\n\n## 2. Go\n\n```sh\ntrue\n```\n"
    place = Place(tmp_path, document)
    assert last_line(place.make()) == "rdc: WAITING 1 Ready"
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


@pytest.mark.share(1)
def test_a_document_with_rules_calls_the_program_which_refuses_a_jump_and_takes_an_override(tmp_path: Path) -> None:
    rule = Rule("approved", "2 PASS before 3", (Event("3"),), (Event("2", "pass"),), needs="2 PASS")
    tasks: list[tuple[str, Task, str]] = [("1", shell("true"), "2"), ("2", ask("pass_fail"), "3")]
    tasks.append(("3", shell("echo >> deployed"), "done"))
    steps = [node(name, task, when("pass", after), when("fail", "stop")) for name, task, after in tasks]
    deploys = program(*steps, rules=(rule,))
    reason = MakeBackend().emit(deploys, {}).reason
    assert reason
    assert "the document has rules" in reason.clause
    assert "the document has rules" in MakeBackend().emit(deploys, {"form": "plain"}).diagnostics[0].message

    made = Made(tmp_path, deploys)
    assert made.end("run").startswith("rdc: WAITING 2")
    assert made.make("step-3").returncode != 0
    refused = made.make("goto", "STEP=3")
    assert b'3 can\'t start: rule approved needs "2 PASS" first' in refused.stdout, refused
    assert refused.returncode == 2
    assert b"needs NOTE=TEXT" in made.make("goto", "STEP=3", "OVERRIDE=approved").stdout
    assert made.read("deployed") == b""
    moved = made.make("goto", "STEP=3", "OVERRIDE=approved", "NOTE=the database is down")
    assert moved.returncode == 0, moved
    assert made.end("resume").startswith("rdc: COMPLETE")
    assert made.read("deployed") == b"\n"
    assert b"overridden for the start of 3" in made.make("status").stdout


@pytest.mark.share(1)
def test_a_run_at_a_limit_of_visits_is_continued(tmp_path: Path) -> None:
    place = Place(tmp_path, limited(1))
    (tmp_path / "no").write_text("no\n")
    assert last_line(place.make("run", "ANSWERS=no")) == "rdc: STOP enough"
    assert "make resume MAX_VISITS=2" in place.make("status").stdout
    assert last_line(place.make("resume", "MAX_VISITS=1")).startswith("rdc: error: MAX_VISITS 1: step 1 has had 1")
    assert last_line(place.make("resume", "MAX_VISITS=2")) == "rdc: WAITING 1 Good?"
