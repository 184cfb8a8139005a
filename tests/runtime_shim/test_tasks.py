"""Tools, parallel steps, gates, all questions of the IR, and questions that expire (I10, I13, I14, I15, O-9)."""

import json
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from backends.python.edition import runtime
from compiler.ir.edges import Keep
from compiler.ir.program import Program
from compiler.ir.tasks import Ask, Gate, Parallel, Tool
from compiler.ir.texts import text
from runtime_shim.engine.journal import read_journal
from tests.runtime_shim.operator import at_terminal, codes, facts_of, talk, waiting
from tests.support.process import Place, Table, ask, is_gone, kill, shell, wait_until
from tests.support.process import program as table_of
from tests.support.runtime_programs import Compiled, agent, edge, node, of, program, sh, slot, stored

pytestmark = pytest.mark.process

TOOL = program(
    node("0", agent("x"), edge("1", None, stored("reply"))),
    node(
        "1",
        Tool("github", "search", of('{"query": "', slot("reply", missing="none"), '", "n": 1.50}')),
        edge("COMPLETE", "pass", stored("found")),
        edge("STOP"),
    ),
    slots=("reply", "found"),
    message=of("found ", slot("found")),
)
REVIEWS = Parallel(
    (agent("First?", "OK", "BAD", kind="a"), agent("Second?", "OK", "BAD", kind="b"), agent("Third?", "OK", "BAD")),
    failing=("BAD",),
)
PARALLEL = program(
    node("review", REVIEWS, edge("COMPLETE", "OK", stored("all")), edge("STOP", None, stored("all"))), slots=("all",)
)


def test_tool_gets_its_arguments_as_json_and_gives_its_result(tmp_path: Path) -> None:
    place = Compiled(tmp_path, TOOL)
    reply = 'a "quoted"\\ line\n$(touch x) {"n": 2}'
    (tmp_path / "reply").write_text(reply)
    words = ("--agent", "cat reply", "--tool", "github=cat > request; echo ' three ☃ '")
    assert place.run("run", *words).last == "rdc: COMPLETE found three ☃"
    assert json.loads(place.text("request")) == {"tool": "search", "arguments": {"query": reply, "n": 1.5}}
    assert '"n": 1.50' in place.text("request"), "numbers stay as they were written"


def test_result_of_a_tool_may_be_empty_and_its_failure_has_none(tmp_path: Path) -> None:
    place = Compiled(tmp_path, TOOL)
    for command, code in {"true": 0, "echo x; exit 1": 1, "yes": 1}.items():
        assert place.run("run", "--agent", "echo a", "--tool", f"github={command}").code == code
        assert place.slots()["found"] == ("" if code == 0 else None)
    waits = place.run("run", "--agent", "echo a")
    assert (waits.code, waits.last) == (75, "rdc: WAITING 1 Step 1")
    assert "--tool github=COMMAND" in waits.err
    assert place.run("answer", "1", "by hand").code == 0
    assert place.run("resume").last == "rdc: COMPLETE found by hand"


@pytest.mark.parametrize(
    ("answers", "word", "joined"),
    [
        (("OK", "OK", "OK"), "OK", "OK\n\nOK\n\nOK"),
        (("OK", "BAD", "hm"), "BAD", "OK\n\nBAD\n\nhm"),
        (("OK", "", "OK"), "failed", "OK\n\nOK"),
    ],
)
def test_entries_run_at_the_same_time_and_join_by_index(
    tmp_path: Path, answers: tuple[str, ...], word: str, joined: str
) -> None:
    place = Compiled(tmp_path, PARALLEL)
    for index, answer in enumerate(answers):
        (tmp_path / f"reply{index}").write_text(answer)
    meet = "touch here$RDC_ENTRY; until test -e here0 -a -e here1 -a -e here2; do sleep 0.01; done"
    log = 'echo "$RDC_ENTRY $RDC_STEP $RDC_AGENT_TYPE $(cat)" >> log'
    order = "sleep 0.$((2 - RDC_ENTRY))"
    result = place.run("run", "--agent", f"{meet}; {log}; {order}; cat reply$RDC_ENTRY")
    assert place.walk() == [f"review {word}"], result.err
    assert place.slots()["all"] == joined
    assert sorted(place.text("log").splitlines()) == [
        "0 review_0 a First?", "1 review_1 b Second?", "2 review_2  Third?"
    ]  # fmt: skip
    assert (tmp_path / ".rdc/deploy/answers/review_0.1").read_text() == answers[0]


def test_output_of_entries_is_not_mixed(tmp_path: Path) -> None:
    place = Compiled(tmp_path, PARALLEL)
    result = place.run("run", "--agent", "for i in 1 2 3; do echo $RDC_ENTRY.$i; sleep 0.05; done; echo OK")
    for index in range(3):
        lines = "".join(f"    {index}.{line}\n" for line in (1, 2, 3))
        assert f"    review_{index}:\n{lines}    OK\n" in result.err


def test_parallel_step_that_was_killed_leaves_all_its_agents_known(tmp_path: Path) -> None:
    place = Compiled(tmp_path, PARALLEL)
    runner = place.start("run", "--agent", "echo $$ > pid$RDC_ENTRY; exec sleep 1000")
    pids = [int(place.wait_for(f"pid{index}")) for index in range(3)]
    wait_until(lambda: sum(record["kind"] == "process" for record in place.records()) == 3)
    kill(runner)
    waiting = place.run("resume", "--agent", "echo OK")
    assert waiting.code == 75
    assert all(str(pid) in waiting.err for pid in pids)
    assert place.run("resume", "--agent", "echo OK", "--rerun-interrupted").code == 0
    wait_until(lambda: all(map(is_gone, pids)))
    assert place.walk() == ["review OK"]


def test_entry_that_ends_well_after_a_signal_is_not_called_again(tmp_path: Path) -> None:
    place = Compiled(tmp_path, PARALLEL)
    asked = "echo $$ > pid$RDC_ENTRY; echo >> calls$RDC_ENTRY; test ! -e again || { echo OK; exit; }"
    agent = f"trap 'test $RDC_ENTRY != 0 || echo OK; exit $RDC_ENTRY' TERM; {asked}; while :; do sleep 0.02; done"
    runner = place.start("run", "--agent", agent)
    for index in range(3):
        place.wait_for(f"pid{index}")
    wait_until(lambda: sum(record["kind"] == "process" for record in place.records()) == 3)
    runner.send_signal(signal.SIGTERM)
    runner.communicate(timeout=20)
    assert (runner.returncode, place.walk()) == (130, [])
    (tmp_path / "again").touch()
    assert place.run("resume", "--agent", agent, "--rerun-interrupted").code == 0
    assert [place.text(f"calls{index}").count("\n") for index in range(3)] == [1, 2, 2]
    assert place.walk() == ["review OK"]


def test_entries_are_answered_by_hand_one_by_one(tmp_path: Path) -> None:
    place = Compiled(tmp_path, PARALLEL)
    assert place.run("run").code == 75
    assert "answer review_1 -" in place.run("status").out
    assert place.run("answer", "review", "OK").code == 2
    for name in ("review_2", "review_0"):
        assert place.run("answer", name, f"Read by {name}.\nOK").code == 0
    assert place.run("answer", "review_0", "BAD").code == 2, "it was answered before"
    assert codes(place, "resume", "answer review_1 OK", "resume") == [75, 0, 0]
    assert place.slots()["all"] == "Read by review_0.\nOK\n\nOK\n\nRead by review_2.\nOK"


def test_line_for_an_entry_is_used_once_across_a_resume(tmp_path: Path) -> None:
    both = Parallel((agent("a", "OK", "NO"), agent("b", "OK", "NO")), check="all")
    again = node("1", both, edge("2", "OK"), edge("STOP"))
    place = Compiled(tmp_path, program(again, node("2", Gate("g", text("")), edge("1", "approved"), edge("COMPLETE"))))
    (tmp_path / "answers").write_text("1_0 OK\n1_1 OK\n1_0 NO\n1_1 NO\n")
    assert place.run("run", "--answers", "answers").last == "rdc: WAITING 2 Step 2"
    assert codes(place, "answer 2 approved", "resume --answers answers") == [0, 1]
    assert place.walk() == ["1 OK", "2 approved", "1 NO"]


def test_gate_waits_for_a_person(tmp_path: Path) -> None:
    place = Compiled(
        tmp_path, program(node("1", Gate("release", text("Look first.")), edge("COMPLETE", "approved"), edge("STOP")))
    )
    (tmp_path / "answers").write_text("approved\n")
    waiting = place.run("run", "--answers", "answers")
    assert (waiting.code, waiting.last) == (75, "rdc: WAITING 1 Step 1"), "an answer without a name opens no gate"
    assert re.search(r"to answer: .*answer 1 approved\nrdc: to answer: .*answer 1 rejected\n", waiting.err)
    assert codes(place, "answer 1 pass", "answer 1 rejected", "resume") == [2, 0, 1]
    (tmp_path / "answers").write_text("1 approved\n")
    assert place.run("run", "--answers", "answers").code == 0
    screen = at_terminal(place)
    talk(screen, r"\[approved/rejected\] ", "approved\n")
    assert screen.close() == 0
    assert place.walk() == ["1 approved"]


QUESTIONS = program(
    node("c", Ask("confirm", text("Sure?")), edge("i", "yes", stored("c")), edge("STOP", None, stored("c"))),
    node("i", Ask("input", text("Name?")), edge("s", None, stored("i"))),
    node(
        "s",
        Ask("select", text("Which?"), options=(text("Blue"), of("as ", slot("i")), text("2"))),
        edge("COMPLETE", "as <i>", stored("s")),
        edge("COMPLETE", "2", stored("s")),
        edge("STOP", None, stored("s")),
    ),
    slots=("c", "i", "s"),
)


def test_questions_take_replies(tmp_path: Path) -> None:
    place = Compiled(tmp_path, QUESTIONS)
    for lines, walk, slots in (
        ("yes\n\f A # b \nas A # b\n", ["c yes", "i pass", "s as <i>"], ("yes", "A # b", "as A # b")),
        ("s 2\nc YES\ni<<E\n\n \n\ta\n \nb\u2003\n\nE\n", ["c yes", "i pass", "s 2"], ("yes", "a\n \nb\u2003", "2")),
        ('{"c": ["yes"], "s": "Blue", "i": "x"}', ["c yes", "i pass", "s Blue"], ("yes", "x", "Blue")),
        ("no\n", ["c no"], ("no", None, None)),
        ("yes\r\ni \r\ns as \r\n", ["c yes", "i pass", "s as <i>"], ("yes", "", "as ")),
    ):
        (tmp_path / "answers").write_bytes(lines.encode())
        result = place.run("run", "--answers", "answers")
        assert place.walk() == walk, result.err
        assert tuple(place.slots().values()) == slots


def test_answers_that_cannot_be_meant_are_refused_first(tmp_path: Path) -> None:
    asking = node("i", Ask("input", text("Name?")), edge("c"))
    confirming = node("c", Ask("confirm", text("Sure?")))
    place = Compiled(tmp_path, program(node("sh", sh("touch ran"), edge("i")), asking, confirming))
    for lines, message in {
        "c perhaps\n": "expected one of yes, no for c",
        "i<<E\nx\n": "the closing line E is missing",
        '{"c": 1}': "c: expected a string",
        '{"d": "yes"}': "d takes no answer",
        '{"c": ': "not JSON",
        "sh pass\n": "sh takes no answer",
    }.items():
        (tmp_path / "answers").write_text(lines)
        result = place.run("run", "--answers", "answers")
        assert (result.code, f"answers:1: {message}" in result.err) == (2, True), result.err
    assert not (tmp_path / "ran").exists()


def test_reply_that_does_not_fit_ends_the_run_and_can_be_mended(tmp_path: Path) -> None:
    place = Compiled(tmp_path, QUESTIONS)
    (tmp_path / "answers").write_text("yes\nx\nblue\n")
    result = place.run("run", "--answers", "answers")
    assert result.code == 2
    assert "line 3 of answers: blue: expected one of Blue, as x, 2" in result.last
    assert "WAITING at s" in place.run("status").out
    assert codes(place, "answer s blue", "answer s Blue", "resume") == [2, 0, 1]


def test_questions_at_the_terminal(tmp_path: Path) -> None:
    place = Compiled(tmp_path, QUESTIONS)
    screen = at_terminal(place)
    talk(screen, r"\[yes/no\] ", "hm\n", r"expected one of yes, no[^$]*\[yes/no\] ", "yes\n", "Step i: ", "you & me\n")
    talk(screen, r"2. as you & me[^$]*\[1-3\] ", "1\n")
    assert screen.close() == 1
    assert list(place.slots().values()) == ["yes", "you & me", "Blue"]


EVERYTHING = program(
    node("1", agent("one"), edge("2", "pass", stored("a")), edge("STOP")),
    node("2", REVIEWS, edge("3", "OK", stored("b")), edge("STOP")),
    node("3", Tool("t", "x", of('{"a": "', slot("a"), '"}')), edge("4", "pass", stored("c")), edge("STOP")),
    node("4", sh('echo "V=$RDC_ATTEMPT" > "$RDC_OUTPUT"'), edge("COMPLETE", "pass", Keep("d", "output", "V"))
         , edge("STOP")),
    slots=("a", "b", "c", "d"),
)  # fmt: skip


def test_run_that_is_killed_at_any_time_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    place, chance = Compiled(tmp_path, EVERYTHING), random.Random(0)
    words = ("--agent", "sleep 0.2; cat; echo; echo OK", "--tool", "t=sleep 0.1; cat")
    command, kills = ["run"], 0
    while True:
        runner = place.start(*command, *words)
        try:
            runner.communicate(timeout=chance.uniform(0.05, 0.45) if kills < 5 else 20)
            break
        except subprocess.TimeoutExpired:
            kill(runner)
            kills += 1
        command = ["resume", "--rerun-interrupted"] if place.text(".rdc/deploy/journal").endswith("\n") else ["run"]
    assert kills
    assert place.run("resume").code == 0
    assert place.walk() == ["1 pass", "2 OK", "3 pass", "4 pass"]
    assert place.slots() == {
        "a": "one\nOK",
        "b": "First?\nOK\n\nSecond?\nOK\n\nThird?\nOK",
        "c": '{"tool": "x", "arguments": {"a": "one\\nOK"}}',
        "d": "1",
    }


def test_dry_run_shows_the_walk_and_does_nothing(tmp_path: Path) -> None:
    place = Compiled(tmp_path, EVERYTHING)
    result = place.run("run", "--dry-run", "--agent", "touch called")
    assert result.code == 0, result.err
    assert [line for line in result.out.splitlines() if not line.startswith(" ")] == [
        "1 Step 1", "2 Step 2", "3 Step 3", "4 Step 4", "The run would end: COMPLETE all done"
    ]  # fmt: skip
    assert '    {"a": ""}' in result.out, "what an agent would have answered is not known"
    assert not (tmp_path / "called").exists()
    assert not place.journal.exists()


@pytest.mark.parametrize("made", [PARALLEL, program(node("review", agent("x")))])
def test_key_of_the_terminal_ends_agents_and_interrupts_the_run(tmp_path: Path, made: Program) -> None:
    place = Compiled(tmp_path, made)
    screen = at_terminal(place, "run", "--agent", "sleep 1000 & echo $! > child${RDC_ENTRY-0}; wait; echo OK")
    children = [int(place.wait_for(f"child{index}")) for index in range(3 if made is PARALLEL else 1)]
    screen.type("\x03")
    screen.expect("rdc: INTERRUPTED review Step review")
    assert screen.close() == 130
    wait_until(lambda: all(map(is_gone, children)))
    assert "INTERRUPTED at review" in place.run("status").out


def test_what_is_offered_as_an_answer_is_one(tmp_path: Path) -> None:
    place = Compiled(tmp_path, QUESTIONS)
    (tmp_path / "answers").write_text("yes\nAnn\n")
    asked = place.run("run", "--answers", "answers").err
    assert " answer s - < FILE\n" in asked
    assert "<i>" not in asked.rpartition("to answer")[2]
    assert " answer s - < FILE\n" in place.run("status").out
    assert place.run("reset").code == 0
    which = Ask("select", text("Which?"), options=(text("x-"), text("y")))
    Compiled(tmp_path, program(node("s", which, *(edge("COMPLETE", word) for word in ("x-", "y")))))
    assert " answer s x-\n" in place.run("run").err
    assert " answer s x-\n" in place.run("status").out


def asks() -> Table:
    return table_of({"1": ask("2", "3"), "2": shell("true", "COMPLETE"), "3": shell("echo no >> log", "STOP")})


def waited(place: Place) -> None:
    assert place.run("run", "--expire", "1h").code == 75
    assert facts_of(place)["state"] == "waiting"
    place.later(3601)


def test_a_question_that_expired_fails_and_the_run_goes_on_as_the_document_says(tmp_path: Path) -> None:
    """Here the time really passes."""
    place = Place(tmp_path, asks())
    assert place.run("run", "--expire", "1s").code == 75
    time.sleep(1.1)
    before = place.journal.read_bytes()
    status = place.run("status")
    assert "READY at 3" in status.out
    assert "expired after 1.0 s" in status.out
    assert place.journal.read_bytes() == before, "who only looks changes nothing"
    late = place.run("answer", "1", "pass")
    assert (late.code, "; 1 ended with FAIL, expired after 1.0 s, " in late.last) == (2, True)
    resumed = place.run("resume")
    assert (resumed.code, place.text("log"), place.walk()) == (1, "no\n", ["1 fail", "3 pass"])
    (expired,) = (record for record in place.records() if record["kind"] == "done" and record["node"] == "1")
    assert (expired["how"], expired["by"]) == ("expired after 1.0 s", "rdc")


def test_an_answer_in_time_counts_and_each_wait_has_its_own_time(tmp_path: Path) -> None:
    place = Place(tmp_path, table_of({"1": ask("2"), "2": ask("COMPLETE")}))
    assert place.run("run", "--expire", "2h").code == 75
    place.later(4000)
    assert codes(place, "answer 1 pass", "resume") == [0, 75]
    place.later(4000)
    assert "WAITING at 2" in place.run("status").out
    assert codes(place, "answer 2 pass", "resume") == [0, 0]


def test_an_expired_run_does_not_reach_the_journal_of_the_next_one(tmp_path: Path) -> None:
    place = Place(tmp_path, table_of({"1": ask("COMPLETE")}))
    waited(place)
    assert place.run("run").code == 75
    assert [record["kind"] for record in place.records()] == ["begin"]
    assert "expire" not in place.records()[0]
    (archived,) = (path for path in (tmp_path / ".rdc" / "deploy" / "history").iterdir() if path.is_file())
    assert [record.get("outcome") for record in read_journal(archived)[0]] == [None, None, "fail"]


def test_a_gate_that_expired_is_rejected(tmp_path: Path) -> None:
    ends = (edge("COMPLETE", "approved"), edge("2", "rejected"))
    table = program(
        node("1", Gate("ship", text("Ship?")), *ends),
        node("2", Gate("keep", text("Keep?")), edge("COMPLETE", "approved"), edge("STOP")),
    )
    place = Compiled(tmp_path, table)
    waited(place)
    assert place.run("approve", "--gate", "1").code == 2
    (tmp_path / "answers").write_text("2 approved\n")
    resumed = place.run("resume", "--answers", "answers")
    assert (resumed.code, place.walk()) == (0, ["1 rejected", "2 approved"]), "the file decides the next gate"


def test_a_step_has_a_time_of_its_own_which_the_operators_replaces(tmp_path: Path) -> None:
    table = asks()
    table["nodes"]["1"]["expire"] = 3600
    place = waiting(tmp_path, table)
    place.later(3601)
    assert "expired after 1 h 0 min" in place.run("status").out
    assert (place.run("resume").code, place.walk()) == (1, ["1 fail", "3 pass"])
    assert place.run("run", "--expire", "2h").code == 75
    place.later(3601)
    assert "WAITING at 1" in place.run("status").out
    place.later(3601)
    assert place.run("resume").code == 1


@pytest.mark.parametrize("call", ["answer 1 pass", "goto 2"])
def test_only_the_step_with_a_time_expires_although_no_call_has_shown_it(tmp_path: Path, call: str) -> None:
    place = waiting(tmp_path, table_of({"1": ask("2"), "2": ask("COMPLETE", expire=60)}))
    place.later(1e6)
    assert "WAITING at 1" in place.run("status").out
    assert codes(place, call) == [0]
    place.later(50)
    assert "WAITING at 2" in place.run("status").out
    place.later(61)
    assert "expired after 1 min" in place.run("status").out
    assert place.run("answer", "2", "pass").code == 2
    assert place.run("resume").last == "rdc: STOP gave up"


@pytest.mark.parametrize("bad", ["STOP", "COMPLETE", "2"])
def test_a_run_that_expires_into_its_end_is_not_started_again(tmp_path: Path, bad: str) -> None:
    """What `open` finds has an outcome that no call has recorded."""
    place = Place(tmp_path, table_of({"1": ask("STOP", bad), "2": shell("echo 2 >> log", "COMPLETE")}))
    waited(place)
    opened = place.run("open")
    assert place.walk() == ["1 fail"]
    assert opened.code == {"STOP": 1}.get(bad, 0), opened.err
    assert not (tmp_path / ".rdc" / "deploy" / "history").exists()


@pytest.mark.parametrize("edition", ["commands", "script"])
def test_editions_without_time_limits_do_not_know_the_option(edition: str) -> None:
    assert "--expire" not in runtime(edition)
