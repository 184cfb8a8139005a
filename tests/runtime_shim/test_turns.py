"""Answers from elsewhere to a run that asks at a terminal: they get there, once, whatever is killed."""

import fcntl
import json
import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from tests.runtime_shim.operator import at_terminal, codes, ended, facts_of, talk, unchanged, waiting
from tests.support.process import Place, ask, kill, program, shell, wait_until

pytestmark = pytest.mark.process

ASKING = program(
    {"1": ask("2"), "2": shell("echo two >> log", "3"), "3": ask("COMPLETE", question="yes/no", title="Good?")}
)
SAME = program({"1": ask("COMPLETE", "1")})
"""A question that comes again after a fail."""

REFUSED = ("rdc: error: 1 is not waiting for an answer; 1 ended with FAIL, ", "rdc: error: another process is using ")
"""How those end who come late: behind another answer, or while one is recorded."""

asking = partial(at_terminal, TERM="xterm", NO_COLOR="1")

KILLED = """\
import fcntl, os, select, signal
COUNT, LAST, SELECT = [-1], int(os.environ.get("KILLED_AT", "-2")), select.select
def dying(act):
    def acting(*given):
        try:
            done = act(*given)
        except BlockingIOError:
            COUNT[0] = max(COUNT[0], 0)
            raise
        COUNT[0] += COUNT[0] >= 0
        if COUNT[0] == LAST:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    return acting
fcntl.flock = dying(fcntl.flock)
for name in ("write", "pwrite", "ftruncate", "fsync", "fdatasync"):
    setattr(os, name, dying(getattr(os, name)))
select.select = lambda *given: SELECT(*given[:3], *(seconds / 10 for seconds in given[3:]))
"""
"""A process that is killed after the system call of this number, of those that lock and write. It counts once another
process has a lock that it wants. At a terminal, it looks for others more often."""


def test_terminal_takes_an_answer_from_elsewhere_and_goes_on(tmp_path: Path) -> None:
    place = Place(tmp_path, ASKING)
    terminal = asking(place, "run", "--events", "events")
    talk(terminal, r"\[pass/fail\] ", "fa")  # not sent yet
    began = time.monotonic()
    answered = place.run("answer", "1", "ok", "--by", "ana", "--note", "it is \\e[31mred\\e[0m")
    assert answered.code == 0
    assert "the run continues at its terminal (pid " in answered.last
    terminal.expect(r"\n    PASS  answered by ana: it is .*\n")
    assert time.monotonic() - began < 3
    terminal.expect(r"Good\? \[yes/no\] ")
    assert place.text("log") == "two\n"
    refused, _, by = place.run("answer", "1", "fail").last.partition("; 1 ended with PASS, answered, ")
    assert (refused, ", by ana: it is " in by) == ("rdc: error: 1 is not waiting for an answer; 3 is", True)
    assert place.run("answer", "3", "yes", "--resume").code == 0
    terminal.expect("rdc: COMPLETE all done\n")
    assert terminal.close() == 0
    assert place.walk() == ["1 pass", "2 pass", "3 pass"]
    finished = [event for line in place.text("events").splitlines() if "outcome" in (event := json.loads(line))]
    found = [(event["step"], event.get("by")) for event in finished]
    assert found == [("1", "ana"), ("2", None), ("3", place.records()[-1]["by"])]


def test_status_shows_who_has_the_run_and_a_refused_answer_leaves_the_question(tmp_path: Path) -> None:
    place = Place(tmp_path, ASKING)
    terminal = asking(place)
    terminal.expect(r"\[pass/fail\] ")
    facts = facts_of(place)
    assert facts["state"] == "waiting"
    assert facts["holder"].startswith(f"pid {terminal.pid}, ")
    assert " at /dev/" in facts["holder"]
    assert [command.split()[-3:] for command in facts["next"]] == [["answer", "1", "pass"], ["answer", "1", "fail"]]
    assert f"A process asks now: {facts['holder']}.\n" in place.run("status").out
    with unchanged(place):
        for verb in ("run", "resume", "reset"):
            assert facts["holder"] in place.run(verb).last
        refused = place.run("answer", "1", "pas s")
        assert refused.last == "rdc: error: pas s: expected pass, fail, yes or no; did you mean pass?"
        assert place.run("answer", "3", "yes").last == "rdc: error: 3 is not waiting for an answer; 1 is"
    terminal.type("pass\n")
    talk(terminal, r"Good\? \[yes/no\] ", "\x04")
    assert terminal.close() == 75
    assert facts_of(place)["holder"] == ""


def test_one_of_many_answers_wins(tmp_path: Path) -> None:
    place = Place(tmp_path, SAME)
    terminal = asking(place)
    terminal.expect(r"\[pass/fail\] ")
    several = [place.start("answer", "1", "fail", "--by", f"p{number}") for number in range(4)]
    ended = [process.communicate(timeout=30)[1].splitlines()[-1] for process in several]
    winners = [line for line in ended if not line.startswith("rdc: error: ")]
    assert len(winners) == len(place.walk()), "a late one can only answer the question that came after it started"
    assert all(line in winners or line.startswith(REFUSED) for line in ended), ended
    talk(terminal, r"\[pass/fail\] ", "pass\n")
    assert terminal.close() == 0
    assert place.walk() == [*["1 fail"] * len(winners), "1 pass"]


def test_other_version_and_running_command_take_no_answer(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": shell("until test -e go; do sleep 0.02; done", "COMPLETE")}))
    terminal = asking(place)
    terminal.expect(r"\[pass/fail\] ")
    place.write(program({"1": ask("2"), "2": shell("true; until test -e go; do sleep 0.02; done", "COMPLETE")}))
    refused = place.run("answer", "1", "pass").err
    assert f"restore the old version, or go to its terminal (pid {terminal.pid}, " in refused
    assert refused.endswith("rdc: error: this run belongs to a different version of this program\n")
    assert facts_of(place)["next"] == []
    terminal.type("pass\n")
    wait_until(lambda: place.walk() == ["1 pass"])
    assert "wait until it ends; 1 ended with PASS, answered here, " in place.run("answer", "1", "pass").last
    (tmp_path / "go").touch()
    assert terminal.close() == 0


@pytest.mark.parametrize("typed", ["", "pass\n"])
def test_terminal_gives_up_a_question_that_expires(tmp_path: Path, typed: str) -> None:
    place = Place(tmp_path, program({"1": ask("2", expire=60), "2": shell("echo two >> log", "COMPLETE")}))
    place.later()
    terminal = asking(place)
    terminal.expect(r"\[pass/fail\] ")
    place.later(61)
    terminal.type(typed)
    terminal.expect("rdc: 1 Review has expired\nrdc: WAITING 1 Review\n")
    assert (terminal.close(), "expired after 1 min" in place.run("status").out) == (75, True)
    assert "; 1 ended with FAIL, expired after 1 min 0 s, " in place.run("answer", "1", "pass").last
    assert (place.run("resume").code, place.walk(), place.text("log")) == (1, ["1 fail"], "")


def test_answer_continues_at_once(tmp_path: Path) -> None:
    place = waiting(tmp_path, ASKING)
    assert place.run("resume", "--assume", "pas").last.endswith("or --rerun-interrupted; did you mean pass?")
    assert "unknown argument --answers" in place.run("answer", "1", "pass", "--answers", "a").last
    done = place.run("answer", "1", "pass", "--resume", "--events", "events", "--by", "ana", "--note", "ok")
    assert (done.code, done.last) == (75, "rdc: WAITING 3 Good?")
    assert place.text("log") == "two\n"
    assert place.run("answer", "3", "n", "--resume").last == "rdc: STOP gave up"
    assert place.run("run").code == 75
    (tmp_path / "a").write_text("3 yes\n")
    assert place.run("answer", "1", "done", "--resume", "--answers", "a").last == "rdc: COMPLETE all done"


def test_signals_reach_the_commands_of_a_run_that_an_answer_continues(tmp_path: Path) -> None:
    command = "trap 'echo got > got' TERM; echo > on; sleep 9"
    place = waiting(tmp_path, program({"1": ask("2"), "2": shell(command, "COMPLETE")}))
    process = place.start("answer", "1", "pass", "--resume")
    wait_until(lambda: place.text("on"))
    assert ended(process, signal.SIGTERM) == (130, "rdc: INTERRUPTED 2 Work")


def test_run_survives_any_kill_of_a_process_that_answers(tmp_path: Path) -> None:
    place = Place(tmp_path, SAME)
    place.hook(KILLED)
    terminal = asking(place)
    terminal.expect(r"\[pass/fail\] ")
    killed, codes = 0, list[int]()
    while 0 not in codes:
        time.sleep(0.1)  # until the terminal has the lock again
        before, killed = len(place.walk()), killed + 1
        codes.append(place.run("answer", "1", "fail", KILLED_AT=str(killed)).code)
        if len(place.walk()) > before:
            terminal.expect(r"answered by \w+\n")
            terminal.expect(r"\[pass/fail\] ")
    assert codes == [-signal.SIGKILL] * (killed - 1) + [0]
    assert killed > 8
    terminal.type("pass\n")
    terminal.expect("rdc: COMPLETE")
    assert terminal.close() == 0
    walk = place.walk()
    assert 2 < len(walk) < killed, "some were recorded before the kill, and some not"
    assert walk == [*["1 fail"] * (len(walk) - 1), "1 pass"]


@pytest.mark.share(2)
@pytest.mark.parametrize("number", [1, 2, 3, 5, 7, 9])
def test_run_survives_any_kill_of_a_terminal_that_lends(tmp_path: Path, number: int) -> None:
    place = Place(tmp_path, ASKING)
    place.hook(KILLED)
    terminal = asking(place, KILLED_AT=str(number))
    terminal.expect(r"\[pass/fail\] ")
    assert place.run("answer", "1", "pass").code == 0
    assert place.walk() == ["1 pass"]
    assert terminal.close() == -signal.SIGKILL
    *_, following, refused = place.run("answer", "1", "pass").err.splitlines()
    assert refused.startswith("rdc: error: no step is waiting for an answer; 1 ended with PASS, answered, ")
    assert following == f"rdc: to continue: {place.script} resume"
    assert facts_of(place)["holder"] == ""
    assert place.run("resume").code == 75
    assert place.run("answer", "3", "yes", "--resume").last == "rdc: COMPLETE all done"
    assert place.walk() == ["1 pass", "2 pass", "3 pass"]
    assert place.text("log") == "two\n"


def test_stopped_process_that_answers_keeps_no_one_out(tmp_path: Path) -> None:
    """Ctrl-C ends a run that lends its lock to a process that hangs."""
    place = Place(tmp_path, ASKING)
    terminal = asking(place)
    terminal.expect(r"\[pass/fail\] ")
    place.hook("import time; from runtime_shim.engine.state import Store; Store.append = lambda *_: time.sleep(99)")
    process = place.start("answer", "1", "pass")
    time.sleep(1)
    terminal.type("\x03")
    assert terminal.close() == 130
    kill(process)
    assert place.walk() == []
    place.write(ASKING)
    assert place.run("answer", "1", "pass").code == 0


def test_short_replies_where_they_are_clear(tmp_path: Path) -> None:
    for question, good, bad, others in (
        ("pass/fail", ("y", "OK", "done"), ("n",), ("o", "")),
        ("yes/no", ("y",), ("N",), ("done",)),
    ):
        place = Place(tmp_path, program({"1": ask("COMPLETE", question=question)}))
        assert codes(place, "run", *(f"answer 1 '{reply}'" for reply in others)) == [75, *[2] * len(others)]
        for reply in (*good, *bad):
            assert place.walk() == []
            assert place.run("answer", "1", reply).code == 0
            assert place.walk() == [f"1 {'pass' if reply in good else 'fail'}"]
            assert codes(place, "resume", "run") == [0 if reply in good else 1, 75]
        assert place.run("reset").code == 0


def test_hostile_lock_changes_no_screen(tmp_path: Path) -> None:
    place = waiting(tmp_path, ASKING)
    with (place.journal.parent / "lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(b"lends -1, \x1b[2J\n\xff" + b"x" * 10_000)
        lock.flush()
        shown = place.run("status").out + place.run("resume").err
    assert "\x1b" not in shown
    assert "x" * 600 not in shown
    assert "pid -1, ?[2J" in shown
    for content, last in (("-1, nobody", "to continue: "), ("9" * 99, "to continue: "), (f"{os.getpid()}, me", "me)")):
        assert place.run("goto", "1").code == 0
        (place.journal.parent / "lock").write_text(f"lends {content}")
        assert last in place.run("answer", "1", "pass").last
