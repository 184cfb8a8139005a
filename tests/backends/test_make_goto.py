"""`make goto`: the operator's jump, held against the semantics (I27); what it refuses; kills around it."""

from __future__ import annotations

import random
import re
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.driver import compile_file
from compiler.ir.edges import Add, Clear, CounterTest, Set
from compiler.ir.program import Entering, Group, Jump, Register, jumps_of
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.texts import text
from rdc.trials.make import run
from rdc.trials.run import Leg, Setting
from tests.backends.makefiles import BOTH, FLOW, PATIENCE, PLAIN, Place, environment, kill_all, last_line
from tests.backends.programs import AT, Made, ask, node, program, ref, shell, slots, when, words

NESTED = """\
# Nested

## 1. Check

Fine?

- FAIL: RETRY 2 STOP "It is not fine"

## 2. Deploy

- PASS ANY: CONTINUE
- FAIL ALL: RETRY 1 GOTO Undo

### 2.1 One

One?

- FAIL: RETRY 1 CONTINUE

### 2.2 Two

Two?

### 2.{name} Three

Three?

- PASS: GOTO 2.1
- FAIL: CONTINUE

## 3. Others

- other.runbook.md

## 4. Over

Over?

- PASS: COMPLETE "Done"
- FAIL: GOTO 2.2

## Undo

Undone?

- PASS: STOP "Undone"

## Rescue it

Nothing leads here. Rescued?
"""
OTHER = "# Other\n\n## 1. In\n\nIn?\n\n- FAIL: RETRY 1\n\n## 2. Out\n\nOut?\n\n- FAIL: GOTO 1\n"
PAGES = """\
# Pages

## {N}. Page

### {N}.1 Part

Part of {N}?

- PASS: GOTO NEXT {N}
- FAIL: CONTINUE

### {N}.2 Rest

Rest of {N}?

- FAIL: GOTO {N}.1

## Last

Last?

- PASS: GOTO {N}
- FAIL: COMPLETE
"""
DOCUMENTS = {"nested": (NESTED.format(name="three"), {"other.runbook.md": OTHER}), "pages": (PAGES, {})}


@pytest.mark.share(9)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_run_that_is_moved_walks_as_the_semantics_say(name: str, seed: int, tmp_path: Path) -> None:
    document, others = DOCUMENTS[name]
    place = Place(tmp_path, document, others)
    whole = compile_file(str(tmp_path / "main.runbook.md")).program
    assert whole
    machine, draw = Machine(whole), random.Random(seed)
    steps = sorted(jumps_of(whole))
    state = machine.start()
    said = place.make()
    for _ in range(14):
        end = machine.end(state)
        assert last_line(said) == f"rdc: {_told(machine, state)}", said.stderr
        if end and end.result == "complete":
            return
        if end or draw.random() < 0.4:
            step = draw.choice(steps)
            state = machine.jump(state, step)
            moved = place.make("goto", f"STEP={step}")
            assert moved.returncode == 0, (step, moved.stdout, moved.stderr)
        else:
            word = draw.choice(["pass", "fail"])
            attempt = machine.attempt(state)
            assert attempt == 1 or f", attempt {attempt}\n" in said.stderr
            answered = place.make("answer", f"STEP={state.node}", f"REPLY={word}")
            assert answered.returncode == 0, answered.stderr
            state = machine.advance(state, Outcome(word)).state
        said = place.make("resume")


def _told(machine: Machine, state: State) -> str:
    end = machine.end(state)
    return f"{end.result.upper()} {end.message}".strip() if end else f"WAITING {state.node}"


EVIL = 'what $(touch canary) `touch canary` "it\'s" \\'


def test_a_jump_has_the_effects_of_the_program(tmp_path: Path) -> None:
    """Registers that are set, slots that are cleared, and effects that only a run from outside has."""
    whole = program(
        node("a", ask("pass_fail", prompt=words("n ", ref("n"), " v ", ref("v", missing="unset"))), when("pass", "b"),
             when("fail", "stop"), group="g"),
        node("b", ask("pass_fail", prompt=words("n ", ref("n"))), group="g"),
        node("c", ask("pass_fail", prompt=words("n ", ref("n"), " v ", ref("v", missing="unset"))), group=EVIL),
        groups=tuple(Group(name, text("G"), text(""), "step", "", AT) for name in ("g", EVIL)),
        registers=(Register("n", "", 7),),
        slots=slots("v"),
        jumps=(
            Jump("c", "c", effects=(Add("n", 1), Clear("v"))),
            Jump("b", "b", (Entering("g", (Set("n", 0),)),), (Add("n", 2),)),
        ),
    )  # fmt: skip
    made = Made(tmp_path, whole)
    assert made.end() == "rdc: WAITING a"
    for step, shows in (("c", "n 8 v unset"), ("b", "n 2"), ("b", "n 4"), ("g", "n 4 v unset"), ("b", "n 6")):
        assert made.make("goto", f"STEP={step}").returncode == 0
        assert f"\n{shows}\n" in made.make("resume").stderr.decode(), step
    assert made.make("goto", f"STEP={EVIL}").returncode == 0
    assert made.end("resume") == "rdc: WAITING c"
    assert not (tmp_path / "canary").exists()


def test_the_attempts_of_the_step_that_is_left_are_forgotten(tmp_path: Path) -> None:
    """Of a counter that others see too, whether the run goes back there or elsewhere."""
    asked = ask("pass_fail", prompt=words("m is ", ref("m")))
    retries = when("pass", "b"), when("fail", "a", Add("m", 1), tests=[CounterTest("m", "<", 5)]), when("fail", "stop")
    whole = program(
        node("a", asked, *retries, retries="m"),
        node("b", ask("pass_fail", prompt=words("m is ", ref("m")))),
        registers=(Register("m", ""),),
    )
    made = Made(tmp_path, whole)
    made.make()
    for step in ("b", "a"):
        made.make("goto", "STEP=a")
        made.make("resume")
        for attempt in (2, 3):
            made.make("answer", "STEP=a", "REPLY=fail")
            assert f"a, attempt {attempt}\n" in made.make("resume").stderr.decode()
        assert made.make("goto", f"STEP={step}").returncode == 0
        assert f"{step}\nm is 0\n" in made.make("resume").stderr.decode()


def test_an_unfinished_stopped_or_interrupted_run_is_moved_and_no_other(flow: Place) -> None:
    assert "there is no run" in last_line(flow.make("goto", "STEP=1"))
    flow.make()
    assert "STEP is missing" in last_line(flow.make("goto"))
    before = (flow.state / "journal").read_bytes()
    for step in ("5", "", "1 ", "2.$(touch canary)", "'", "[1-4]", "*"):
        assert flow.make("goto", f"STEP={step}").returncode, step
    assert (flow.state / "journal").read_bytes() == before
    moved = flow.make("goto", "STEP=4", "BY=ann", "NOTE=it was good before")
    assert (moved.returncode, moved.stdout) == (0, "")
    assert "make resume" in moved.stderr
    assert flow.lines("log") == ["build"], "it records and stops"
    assert last_line(flow.make("status")) == "at 4 Ship it"
    assert last_line(flow.make("resume")) == "rdc: COMPLETE Out it goes"
    assert "goto 4 Ship it  (by ann: it was good before)\n" in flow.make("status").stdout
    refused = flow.make("goto", "STEP=1")
    assert "the run is over" in last_line(refused)
    assert not list(flow.folder.rglob("canary*"))


def test_a_run_that_stopped_goes_on_where_it_was_taken(flow: Place) -> None:
    flow.make()
    flow.make("answer", "STEP=2", "REPLY=no")
    assert last_line(flow.make("resume")) == "rdc: STOP It is bad"
    assert flow.make("goto", "STEP=1").returncode == 0
    assert last_line(flow.make()).startswith("rdc: error: an unfinished run is there")
    assert last_line(flow.make("resume")) == "rdc: WAITING 2"
    assert flow.lines("log") == ["build", "build"]


@BOTH
def test_an_interrupted_run_is_moved_once_its_command_has_ended(
    document: str, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    place = Place(tmp_path, document)
    ended.append(place.start())
    assert "another run is under way" in last_line(place.make("goto", "STEP=3"))
    command = int(place.lines("began")[0])
    driver = int((place.state / "lock").readlink().name.partition("-")[0])
    for pid in (ended[0].pid, driver):
        subprocess.run(["kill", "-9", str(pid)], check=True)
    ended[0].wait(PATIENCE)
    assert f"its command still runs (pid {command})" in last_line(place.make("goto", "STEP=3"))
    subprocess.run(["kill", "-9", str(command)], check=True)
    assert place.make("goto", "STEP=3").returncode == 0
    assert place.make("resume").returncode == 0
    assert place.lines("log") == ["build", "ship"]


def test_targets_that_are_named_by_titles_do_not_go_on_with_a_run_that_was_moved(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN.replace("echo ship", "[ -e good ] && echo ship"))
    assert last_line(place.make("ship-it")) == "rdc: STOP"
    assert place.make("goto", "STEP=1").returncode == 0
    assert "make resume goes on with it" in last_line(place.make("ship-it"))
    (tmp_path / "good").touch()
    assert last_line(place.make("resume")) == "rdc: COMPLETE"
    assert place.lines("log") == ["build", "build", "ship"]


def test_basic_leaves_it_out(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    whole = compile_file(str(tmp_path / "main.runbook.md")).program
    assert whole
    basic = MakeBackend().emit(whole, {"operator": "basic"}).text or ""
    full = (tmp_path / "Makefile").read_text(encoding="utf-8")
    assert full.startswith(basic.replace(" -O operator=basic", "")), "the section stands behind all others"
    assert not re.search("RDC_MODULE_GOTO|PROMPTED|NOTIFY", basic)
    place.make("run", "PROMPTED=1")
    (tmp_path / "Makefile").write_text(basic, encoding="utf-8")
    refused = place.make("resume")
    assert "a different version of the Makefile" in last_line(refused), "it would execute what is prompted"
    assert place.lines("log") == []


def test_a_trial_is_driven_in_parts(tmp_path: Path) -> None:
    """As scenarios with `rd goto` need it: prompted or not, with the same answers in each part."""
    workspace, scratch = tmp_path / "workspace", tmp_path / "scratch"
    for folder in (workspace, scratch):
        folder.mkdir()
    place = Place(tmp_path, FLOW)
    whole = compile_file(str(tmp_path / "main.runbook.md")).program
    assert whole
    legs = (Leg(("pass", "yes"), "1"), Leg(("pass", "yes"), "4"))
    setting = Setting(whole, {}, ("pass",), workspace, scratch, PATIENCE, True, legs, True)
    done = run(setting)
    assert (done.result, done.message) == ("COMPLETE", "Out it goes")
    assert [step.step for step in done.steps] == ["1", "2", "1", "1", "2", "4", "4"]
    assert not (workspace / "log").exists()
    lost = run(replace(setting, workspace=place.folder, legs=(Leg((), "9"),), is_prompted=False))
    assert (lost.result, "9" in lost.message) == ("", True)
    assert place.lines("log") == ["build"]


# --- Kills ------------------------------------------------------------------------------------------------------------


KILLS = 12


@pytest.mark.parametrize("verb", ["goto", "answer"])
def test_killed_at_any_instant_it_is_recorded_whole_or_not_at_all(verb: str, tmp_path: Path) -> None:
    words_of = {
        "goto": ["goto", "STEP=4", "BY=ann", "NOTE=why not"],
        "answer": ["answer", "STEP=2", "REPLY=yes", "BY=ann", "NOTE=why not"],
    }
    waits = {"goto": "rdc: COMPLETE Out it goes", "answer": "rdc: WAITING 3"}
    place = Place(tmp_path, FLOW)
    place.make()
    shutil.copytree(tmp_path / ".rdc", tmp_path / "kept", symlinks=True)
    began = time.monotonic()
    place.make(*words_of[verb])
    usual = time.monotonic() - began
    done = 0
    for number in range(KILLS + 1):
        shutil.rmtree(tmp_path / ".rdc")
        shutil.copytree(tmp_path / "kept", tmp_path / ".rdc", symlinks=True)
        process = subprocess.Popen(
            ["make", *words_of[verb]], cwd=tmp_path, env=environment({}), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            process.wait(usual * 2 * number / KILLS if number < KILLS else PATIENCE)
        except subprocess.TimeoutExpired:
            kill_all(process.pid)
        process.wait(PATIENCE)
        assert process.returncode in {0, -signal.SIGKILL}
        is_recorded = "why=20not" in (place.state / "journal").read_text(encoding="utf-8")
        done += is_recorded
        end = last_line(place.make("resume"))
        assert end == (waits[verb] if is_recorded else "rdc: WAITING 2")
        if is_recorded:
            assert "by ann: why not)" in place.make("status").stdout
    assert 0 < done <= KILLS


def test_a_moved_run_that_is_killed_goes_on_at_the_same_place_with_its_registers(tmp_path: Path) -> None:
    """The commands of the step that it was moved to kill the driver first."""
    killed = "[ -e again ] || { touch again; kill -9 $PPID; }; echo $RDC_ATTEMPT >> log"
    whole = program(
        node("1", ask("pass_fail", prompt=words("n ", ref("n"))), when("pass", "2"), when("fail", "1", Add("n", 1))),
        node("2", shell(killed), when("pass", "1", Add("n", 10)), when("fail", "stop")),
        registers=(Register("n", ""),),
        jumps=(Jump("2", "2", effects=(Add("n", 5),)),),
    )
    made = Made(tmp_path, whole)
    made.make()
    made.make("answer", "STEP=1", "REPLY=fail")
    made.make("goto", "STEP=2")
    made.make("resume")
    assert made.end("resume") == "rdc: WAITING 2"
    assert "\nn 16\n" in made.make("resume", "RERUN=1").stderr.decode()
    assert made.read("log") == b"1\n1\n", "the command outlived its driver, and ran once more"
