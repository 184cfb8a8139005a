"""What operators ask for besides: goto, who and why, prompted runs, agents for prompts, logs, notices, several runs."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from pathlib import Path

import pytest

from backends.python import PythonBackend
from compiler.ir.edges import Reset, Set
from compiler.ir.program import Constant, Entering, Group, Jump
from runtime_shim.journal import read_journal
from runtime_shim.program import RefusedError
from runtime_shim.state import replay
from tests.runtime_shim.shim_process import LOOP, Place, Screen, Table, ask, kill, program, shell, wait_until
from tests.runtime_shim.shim_programs import (
    ORIGIN,
    Ask,
    Compiled,
    Keep,
    Program,
    Register,
    Settings,
    Variable,
    edge,
    node,
    of,
    sh,
    slot,
    text,
)
from tests.runtime_shim.shim_programs import program as compiled

TWO = program(
    {
        "1": shell("echo one >> log", "2"),
        "2": ask("3"),
        "3": shell('echo three >> log; exit "${BAD:-0}"', "COMPLETE"),
        "4": {**shell("echo four >> log", "COMPLETE"), "title": "Mend $(touch x)"},
    }
)


def waiting(tmp_path: Path, table: Table = TWO) -> Place:
    """A run that waits at its question."""
    place = Place(tmp_path, table)
    assert place.run("run").code == 75
    return place


# --- goto -------------------------------------------------------------------------------------------------------------


def test_goto_moves_a_run_that_waits_and_says_who_and_why(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    moved = place.run("goto", "4", "--by", "ann", "--note", "the disk is full", "--events", "events")
    assert moved.code == 0, moved.err
    assert "moved from 2 to 4 Mend" in moved.err
    assert "to go on: " in moved.last
    assert place.run("resume").code == 0
    assert place.text("log") == "one\nfour\n"
    status = place.run("status").out
    assert "GOTO  2 Review, 0.0 s\n        moved to 4, by ann: the disk is full" in status
    record = place.records()[3]
    assert (record["outcome"], record["next"], record["by"], record["note"]) == ("goto", "4", "ann", "the disk is full")
    event = json.loads(place.text("events"))
    assert (event["event"], event["unit"], event["next"], event["by"]) == ("goto", "2", "4", "ann")


def test_goto_takes_up_a_run_that_ended_by_stop_and_no_other(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    place.run("answer", "2", "pass")
    assert place.run("resume", BAD="3").code == 1
    assert place.run("goto", "3").code == 0
    assert place.run("run").last == "rdc: error: an unfinished run stands at 3", "it is live again"
    assert place.run("resume").code == 0
    done = place.run("goto", "1")
    assert (done.code, "the run is complete" in done.last) == (2, True)


def test_goto_asks_back_about_a_unit_that_is_not_there(tmp_path: Path) -> None:
    place = waiting(tmp_path, program({"Build": ask("COMPLETE")}))
    before = place.records()
    assert place.run("goto", "Biuld").last == "rdc: error: there is no unit 'Biuld'; did you mean Build?"
    assert place.run("goto", "COMPLETE").code == 2, "an end is no unit"
    assert place.run("goto", "\x1b[31m").code == 2
    assert "\x1b" not in place.run("goto", "\x1b[31m").err
    assert place.run("goto").last.startswith("rdc: error: the following arguments are required: UNIT")
    assert place.records() == before


def test_goto_is_refused_while_the_command_still_runs(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("echo $$ > pid; exec sleep 60", "2"), "2": ask("COMPLETE")}))
    process = place.start("run")
    pid = int(place.wait_for("pid"))
    assert "a run is at work here" in place.run("goto", "2").last
    kill(process)
    refused = place.run("goto", "2")
    assert (refused.code, f"its command still runs (pid {pid})" in refused.last) == (2, True)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: place.run("goto", "2").code == 0)
    assert place.run("resume").last == "rdc: WAITING 2 Review", "nobody decides about what was left"


def test_goto_gives_a_unit_all_its_attempts_again(tmp_path: Path) -> None:
    unit = {**LOOP["units"]["1"], "command": "echo $RDC_ATTEMPT >> log; kill -KILL $PPID; sleep 1"}
    place = Place(tmp_path, {**LOOP, "units": {**LOOP["units"], "1": unit}})
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
    registers=(Register("n", "a", 1),),
    jumps=(Jump("a.2", "a.2", (Entering("a", (Reset("a"),)),)),),
)


def test_goto_enters_groups_as_the_program_says(tmp_path: Path) -> None:
    place = Compiled(tmp_path, GROUPED)
    place.bundle()
    assert "jumps={" in place.script.read_text()
    place.run("run", "--prompted")
    for unit, reply in (("w", "fail"), ("a.2", "")):
        assert place.run("goto", unit).code == 0
        if reply:
            assert place.run("answer", unit, reply).code == 0
    records = place.records()
    assert records[2]["changed"] == {"n": 7}
    assert records[3]["changed"] == {"n": 1}, "from outside the group it begins afresh"
    assert place.run("goto", "a.2").code == 0
    assert place.records()[4]["changed"] == {}, "from inside it keeps all"
    assert place.run("goto", "a").code == 0
    assert place.records()[5]["next"] == "a.1", "a group begins at its first unit"


def test_a_pause_does_not_apply_after_goto(tmp_path: Path) -> None:
    table = {**LOOP, "units": {**LOOP["units"]}}
    table["units"]["1"] = {**LOOP["units"]["1"], "delay": 60, "backoff": 1}
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
    moments, moves = random.Random(3), 0
    for _ in range(12):
        target = moments.choice("1234")
        process = place.start("goto", target)
        time.sleep(moments.uniform(0.02, 0.4))
        kill(process)
        status = json.loads(place.run("status", "--json").out)
        found = sum(word.endswith(" goto") for word in place.walk())
        assert found - moves in (0, 1)
        assert status["unit"] == (target if found > moves else status["unit"])
        moves = found
    assert moves, "some were in time"
    assert place.run("goto", "4").code == 0
    assert place.run("resume").code == 0


def test_a_journal_with_a_jump_is_cut_at_any_length(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    before = place.journal.read_bytes()
    place.run("goto", "4", "--by", "ann")
    whole = place.journal.read_bytes()
    for length in range(len(before), len(whole) + 1):
        place.journal.write_bytes(whole[:length])
        records, _, _ = read_journal(place.journal)
        is_moved = length >= len(whole) - 1  # only its newline is missing
        assert replay(records, "journal").node == ("4" if is_moved else "2")
    for index in range(len(before), len(whole) - 1, 5):
        place.journal.write_bytes(whole[:index] + bytes([whole[index] ^ 4]) + whole[index + 1 :])
        with pytest.raises(RefusedError, match="the journal is damaged"):
            read_journal(place.journal)


# --- Who and why ------------------------------------------------------------------------------------------------------


def test_an_answer_says_who_gave_it(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    assert place.run("answer", "2", "pass", "--note", "looks fine", LOGNAME="bob").code == 0
    assert {key: place.records()[3][key] for key in ("by", "note")} == {"by": "bob", "note": "looks fine"}
    assert "        by bob: looks fine\n" in place.run("status").out
    assert json.loads(place.run("status", "--json").out)["finished"][1]["by"] == "bob"


@pytest.mark.parametrize(("how", "kind"), [(("--rerun-interrupted",), "resume"), (("--assume", "pass"), "done")])
def test_a_decision_about_an_interrupted_unit_is_signed_once(how: tuple[str, ...], kind: str, tmp_path: Path) -> None:
    command = "[ -e again ] || { touch again; kill -KILL $PPID; sleep 1; }"
    place = Place(tmp_path, program({"1": shell(command, "2"), "2": shell("true", "COMPLETE")}))
    place.run("run")
    wait_until(lambda: "--assume pass" in place.run("status").out)
    assert place.run("resume", *how, "--by", "eve").code == 0
    signed = [record["kind"] for record in place.records() if "by" in record]
    assert signed == [kind]
    assert "by eve" in place.run("status").out


@pytest.mark.parametrize(
    "words",
    [("--by", "a\nb"), ("--by", "\x1b[31mred"), ("--by", ""), ("--by", "x" * 201), ("--note", "a\tb"),
     ("--note", "x" * 2001), ("--note", "\u202e")],
)  # fmt: skip
def test_who_and_why_are_a_line_each(words: tuple[str, ...], tmp_path: Path) -> None:
    place = waiting(tmp_path)
    before = place.records()
    for call in (("goto", "3"), ("answer", "2", "pass")):
        refused = place.run(*call, *words)
        assert (refused.code, words[0] in refused.last) == (2, True)
        assert "\x1b" not in refused.err
    assert place.records() == before


# --- Prompted runs ----------------------------------------------------------------------------------------------------


def test_a_prompted_run_executes_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("touch x", "2"), "2": shell("touch y", "COMPLETE")}))
    first = place.run("run", "--prompted")
    assert first.code == 75
    assert "    touch x\n" in first.err
    assert "answer 1 pass" in first.err
    assert place.run("answer", "1", "pass").code == 0
    assert place.run("resume").last == "rdc: WAITING 2 Work", "a resume goes on prompted"
    (tmp_path / "answers").write_text("2 fail\n")
    assert place.run("resume", "--answers", "answers").code == 1
    assert place.walk() == ["1 pass", "2 fail"]
    assert not {tmp_path / "x", tmp_path / "y"} & {*tmp_path.iterdir()}
    assert place.records()[0]["format"] == 3, "a program that would execute the commands refuses it"


def test_a_prompted_run_is_answered_at_the_terminal(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("touch x", "COMPLETE")}))
    screen = Screen([str(place.script), "run", "--prompted"], tmp_path, place.environment())
    screen.expect(r"touch x[^$]*Did 1 Work pass\? \[pass/fail\]")
    screen.type("p\n")
    assert screen.close() == 0
    assert not (tmp_path / "x").exists()


def test_values_of_a_command_that_was_done_by_hand_are_given(tmp_path: Path) -> None:
    place = Compiled(tmp_path, compiled(
        node("1", sh("touch x; echo id=1 >> $RDC_OUTPUT"), edge("2", None, Keep("id", "value", "id"))),
        node("2", sh("touch y id"), edge("COMPLETE", None, Keep("id", "value", "id"))),
        slots=("id",), message=of("made ", slot("id")),
    ))  # fmt: skip
    said = place.run("run", "--prompted").err
    assert re.search("with values: .* answer 1 pass --value 'id=…'\n", said)
    assert "expected NAME=VALUE" in place.run("answer", "1", "pass", "--value", "other=1").last
    assert place.run("answer", "1", "pass", "--value", "id=two\nlines").code == 0
    assert place.slots()["id"] == "two\nlines"
    assert "with values" not in place.run("resume").err, "the command writes none"
    place.run("answer", "2", "pass")
    assert place.run("resume").last == "rdc: COMPLETE made two lines"


FIVE = {**{str(number): shell("touch x", str(number + 1)) for number in range(1, 5)}, "5": ask("COMPLETE")}


def test_a_prompted_run_that_is_killed_asks_again(tmp_path: Path) -> None:
    place = Place(
        tmp_path, program({str(n): shell("touch x", str(n + 1)) for n in range(1, 5)} | {"5": ask("COMPLETE")})
    )
    moments = random.Random(5)
    for number in range(1, 6):
        words = ["resume"] if place.journal.exists() else ["run", "--prompted"]
        process = place.start(*words)
        time.sleep(moments.uniform(0.0, 0.15))
        kill(process)
        if not place.journal.exists() or not place.journal.read_bytes():
            assert place.run("run", "--prompted").code == 75
        answer = place.start("answer", str(number), "pass")
        time.sleep(moments.uniform(0.0, 0.15))
        kill(answer)
        if f"{number} pass" not in place.walk():
            assert place.run("answer", str(number), "pass").code == 0
    assert place.run("resume").code == 0
    assert place.walk() == [f"{number} pass" for number in range(1, 6)]
    assert not (tmp_path / "x").exists()


# --- Agents for prompts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "word", "how"),
    [
        ("echo thinking; echo PASS", "pass", "answered by the agent"),
        ("printf 'Yes\\n\\n \\n'", "pass", "answered by the agent"),
        ("echo '**ok.**'", "pass", "answered by the agent"),
        ("echo no", "fail", "answered by the agent"),
        ("echo pass; echo maybe", "fail", "did not say pass or fail"),
        ("echo it should pass", "fail", "did not say pass or fail"),
        ("echo pass; exit 3", "fail", "exit code 3"),
        ("true", "fail", "did not say pass or fail"),
    ],
)
def test_an_agent_answers_prompts_where_it_is_named(command: str, word: str, how: str, tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE", block="rm -r x", language="bash")}))
    done = place.run("run", "--agent", f"cat > given; echo $RDC_UNIT $RDC_TITLE $RDC_ATTEMPT > env; {command}")
    assert place.walk() == [f"1 {word}"], done.err
    assert how in done.err
    assert place.text("given").startswith("1 Review\n\nLook at it.\n\nrm -r x\n\nAnswer PASS or FAIL.")
    assert place.text("env") == "1 Review 1\n"


def test_the_environment_alone_names_no_agent_for_prompts(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}))
    assert place.run("run", RDC_AGENT="echo pass").code == 75


def test_what_must_be_given_again_is_repeated(tmp_path: Path) -> None:
    place = Place(tmp_path, TWO)
    words = (
        "--agent",
        "kill -INT $PPID; sleep 5",
        "--logs",
        "--log-limit",
        "9k",
        "--notify",
        "true",
        "--as",
        "b c"[:1],
    )
    done = place.run("run", *words)
    assert done.code == 130, done.err
    again = "resume --as b --agent 'kill -INT $PPID; sleep 5' --logs --log-limit 9k --notify true"
    assert f"{again}\n" in done.err


# --- Logs -------------------------------------------------------------------------------------------------------------


def logs(place: Place) -> dict[str, str]:
    """The logs of a run."""
    return {path.name: path.read_text() for path in sorted((place.journal.parent / "logs").iterdir())}


def test_logs_keep_what_commands_print_in_its_order(tmp_path: Path) -> None:
    command = "echo one; echo two >&2; echo three; exit 4"
    place = Place(tmp_path, program({"../a b/%": shell(command, "COMPLETE", "4"), "4": shell("true", "COMPLETE")}))
    done = place.run("run", "--logs")
    assert done.out == "one\ntwo\nthree\n", "it is shown as before"
    assert logs(place) == {"001-..%2Fa b%2F%25.log": "one\ntwo\nthree\n", "002-4.log": ""}
    assert place.run("run").code == 0
    assert len(list((place.journal.parent / "history").glob("*.logs"))) == 1, "logs go with their run"


def test_status_shows_the_end_of_what_failed(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("seq 1 30; printf '\\033[31m'; exit 3", "COMPLETE")}))
    place.run("run", "--logs")
    status = place.run("status").out
    assert "        exit code 3\n" in status
    assert "        | 30\n" in status
    assert "| 20\n" not in status
    assert "\033" not in status


def test_a_log_has_a_limit_and_keeps_the_end(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("seq 1 100000", "COMPLETE")}))
    done = place.run("run", "--logs", "--log-limit", "1k")
    whole = "".join(f"{number}\n" for number in range(1, 100001))
    assert done.out == whole
    assert logs(place) == {"001-1.log": whole[-1024:]}
    assert place.run("run", "--logs", "--log-limit", "many").code == 2


def test_a_killed_run_leaves_its_log(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("echo here; sleep 60", "COMPLETE")}))
    process = place.start("run", "--logs")
    log = place.journal.parent / "logs" / "001-1.log"
    wait_until(lambda: log.exists() and log.read_text() == "here\n")
    kill(process)
    assert logs(place) == {"001-1.log": "here\n"}


def test_what_is_left_in_the_background_holds_no_log_up(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("(sleep 30) & echo begun", "COMPLETE")}))
    begun = time.monotonic()
    assert place.run("run", "--logs").code == 0
    assert time.monotonic() - begun < 10
    assert logs(place) == {"001-1.log": "begun\n"}


# --- Notices ----------------------------------------------------------------------------------------------------------


def test_a_notice_tells_of_waiting_and_of_the_end(tmp_path: Path) -> None:
    place = Place(tmp_path, TWO)
    words = ("--notify", "cat >> told; echo no''ise; echo no''ise >&2; exit 5")
    done = place.run("run", *words)
    assert done.code == 75
    assert done.last.startswith("rdc: WAITING"), "the last line stays the last one"
    assert "--notify: the command ended with 5" in done.err
    assert "noise" not in done.out + done.err
    place.run("answer", "2", "pass")
    assert place.run("resume", *words).code == 0
    events = [json.loads(line) for line in place.text("told").splitlines()]
    assert [event["event"] for event in events] == ["run_waiting", "run_finished"]
    assert (events[0]["unit"], events[1]["result"], events[1]["message"]) == ("2", "complete", "all done")


def test_a_notice_tells_of_an_interruption(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("kill -INT $PPID; sleep 5", "COMPLETE")}))
    assert place.run("run", "--notify", "cat > told").code == 130
    assert json.loads(place.text("told"))["event"] == "run_interrupted"


# --- Several runs -----------------------------------------------------------------------------------------------------


def test_runs_with_names_stand_beside_each_other(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    other = place.run("run", "--as", "blue")
    assert other.code == 75
    assert "answer 2 pass --as blue" in other.err
    place.run("answer", "2", "pass", "--as", "blue")
    assert place.run("resume", "--as", "blue").code == 0
    listed = place.run("status", "--all").out.splitlines()
    assert [line.split()[:2] for line in listed] == [["-", "WAITING"], ["blue", "COMPLETE"]]
    assert {path.name for path in (tmp_path / ".rdc").iterdir()} == {"deploy", "deploy@blue"}


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "a b", "x" * 65, "-x", "a\nb"])
def test_the_name_of_a_run_is_no_path(name: str, tmp_path: Path) -> None:
    place = Place(tmp_path, TWO)
    assert place.run("run", f"--as={name}").code == 2
    assert not (tmp_path / ".rdc").exists()


def test_history_lists_and_prunes_what_is_archived_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell('exit "${BAD:-0}"', "COMPLETE")}))
    for bad in ("0", "1", "0"):
        place.run("run", "--logs", BAD=bad)
    history = place.journal.parent / "history"
    (first,) = (path for path in history.iterdir() if path.is_file() and b"all done" in path.read_bytes())
    os.utime(first, (0, 0))
    listed = place.run("history").out
    assert [line.split()[2] for line in listed.splitlines()] == ["STOP", "COMPLETE"]
    assert listed.count("this version") == 2
    assert place.run("history", "--prune", "99999h").out == "1 of 2 archived runs were deleted.\n"
    assert place.run("history", "--prune", "many").code == 2
    live = place.journal.read_bytes()
    assert place.run("history", "--prune", "0").out == "1 of 1 archived runs were deleted.\n"
    assert list(history.iterdir()) == [], "what was kept of them goes too"
    assert place.journal.read_bytes() == live


# --- Secrets and constants --------------------------------------------------------------------------------------------

SECRET = compiled(
    node("0", sh('echo "$TOKEN $KEY" | tr a-z A-Z; echo "out=$TOKEN" > "$RDC_OUTPUT"; exit 1'),
         edge("1", None, Keep("out", "value", "out"))),
    node("1", sh('printf "%s" "$MODE" > mode; echo "$KEY" ; false'), edge("STOP"),
         constants=(Constant("MODE", "a 'b'\n$x"),)),
    secrets=("TOKEN", "KEY"), slots=("out",),
)  # fmt: skip


def test_secrets_must_be_set_before_anything_begins(tmp_path: Path) -> None:
    place = Compiled(tmp_path, SECRET)
    place.bundle()
    refused = place.run("run", TOKEN="")
    assert (
        refused.last == "rdc: error: secrets are missing: TOKEN, KEY; set these environment variables and begin again"
    )
    assert (refused.code, place.journal.exists()) == (2, False)


def test_secrets_are_kept_nowhere(tmp_path: Path) -> None:
    place = Compiled(tmp_path, SECRET)
    place.bundle()
    values = {"TOKEN": "hunter2", "KEY": "first line\nhunter22"}
    place.run("run", "--logs", "--events", "events", "--notify", "cat > told", cwd=None, **values)
    assert place.text("mode") == "a 'b'\n$x"
    assert place.slots()["out"] == "***"
    kept = "".join(path.read_text() for path in place.journal.parent.rglob("*") if path.is_file())
    kept += place.text("events") + place.text("told") + place.run("status").out + place.run("status", "--json").out
    assert "***" in kept
    for secret in ("hunter2", "first line"):
        assert secret not in kept
    assert place.run("goto", "0", "--note", "it was hunter22", cwd=None, **values).code == 0
    assert place.records()[-1]["note"] == "it was ***"
    assert place.run("resume", TOKEN="x").last.startswith("rdc: error: secrets are missing: KEY;")
    assert "hunter2" not in place.run("resume", "--logs", TOKEN="a", KEY="b").err


def test_a_program_without_secrets_has_no_code_for_them(tmp_path: Path) -> None:
    place = Compiled(tmp_path, compiled(node("1", sh("true"))))
    place.bundle()
    assert "Secrets" not in place.script.read_text()
    assert "in MASKS" not in place.script.read_text()


# --- What commands get, and time limits -------------------------------------------------------------------------------


def test_a_command_knows_its_unit(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": {**shell('echo "$RDC_UNIT|$RDC_TITLE"', "COMPLETE"), "title": 'Do "it"'}}))
    assert place.run("run").out == '1|Do "it"\n'


def test_a_timeout_is_called_so(tmp_path: Path) -> None:
    place = Compiled(tmp_path, compiled(node("1", sh("sleep 60"), settings=Settings(timeout=1))))
    done = place.run("run")
    assert "FAIL  timeout after 1.0 s" in done.err
    assert "        timeout after 1.0 s\n" in place.run("status").out


# --- In the files that are generated ----------------------------------------------------------------------------------


@pytest.mark.parametrize("runtime", ["bundled", "shared"])
def test_generated_files_can_do_it_too(runtime: str, tmp_path: Path) -> None:
    commands = compiled(node("1", sh("touch x; exit 3"), edge("2", "pass"), edge("STOP")), node("2", sh("touch y")))
    place = emitted(tmp_path, commands, runtime=runtime)
    assert place.run("run", "--logs", "--notify", "true", "--as", "a").code == 1
    assert "exit code 3" in place.run("status", "--as", "a").out
    assert place.run("goto", "2", "--as", "a").code == 0
    assert place.run("resume", "--as", "a").code == 0
    assert place.run("run", "--prompted").code == 75
    (tmp_path / "answers").write_text("1 pass\npass\n")
    assert place.run("resume", "--answers", "answers").code == 0
    assert "COMPLETE" in place.run("status", "--all").out
    assert place.run("history").out == "No run was archived here.\n"
    for command in ("goto", "answer", "history"):
        assert "--as NAME" in place.run(command, "--help").out
    assert "goto" in place.run("--help").out


def test_generated_files_of_questions_can_be_answered_by_an_agent(tmp_path: Path) -> None:
    place = emitted(tmp_path, compiled(node("1", Ask("pass_fail", text("Well?")))))
    assert place.run("run", "--agent", "cat >&2; echo thinking; sleep 0.1; echo PASS").code == 0
    assert place.text(".rdc/deploy/answers/1.1") == "thinking\nPASS"
    assert "--agent COMMAND" in place.run("run", "--help").out


@pytest.mark.parametrize("runtime", ["bundled", "shared"])
def test_a_basic_program_has_none_of_it(runtime: str, tmp_path: Path) -> None:
    place = emitted(tmp_path, compiled(node("1", sh("exit 1"))), runtime=runtime, operator="basic")
    assert place.run("run", "--logs").last.startswith("rdc: error: unrecognized arguments: --logs")
    assert place.run("goto", "1").last.startswith("rdc: error: no command 'goto'")
    assert place.run("run").code == 0
    assert place.run("status").code == 0


def emitted(folder: Path, made: Program, **options: str) -> Place:
    """The file that a program becomes, with what lies beside it."""
    place = Compiled(folder, made)
    emission = PythonBackend().emit(made, options)
    assert emission.text
    place.script.write_text(emission.text, encoding="utf-8")
    for companion in emission.companions:
        (folder / companion.path).write_text(companion.text, encoding="utf-8")
    return place
