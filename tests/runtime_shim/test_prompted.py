"""Runs whose commands are done by hand, and agents that answer prompts."""

import json
import random
import re
import time
from pathlib import Path

import pytest

from compiler.ir.edges import Keep
from compiler.ir.program import Variable
from tests.runtime_shim.operator import TWO, at_terminal, talk
from tests.support.process import Place, ask, kill, program, shell
from tests.support.runtime_programs import Compiled, edge, node, of, sh, slot
from tests.support.runtime_programs import program as compiled

pytestmark = pytest.mark.process


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
    assert place.records()[0]["mode"] == "prompted", "a program that would execute the commands refuses it"
    screen = at_terminal(place, "run", "--prompted")
    talk(screen, r"touch x[^$]*Did 1 Work pass\? \[pass/fail\]", "p\n", r"Did 2 Work pass\? ", "p\n")
    assert screen.close() == 0
    assert not {tmp_path / "x", tmp_path / "y"} & {*tmp_path.iterdir()}


def test_values_of_a_command_that_was_done_by_hand_are_given(tmp_path: Path) -> None:
    place = Compiled(tmp_path, compiled(
        node("1", sh("touch x; echo id=1 >> $RDC_OUTPUT"), edge("2", None, Keep("id", "output", "id"))),
        node("2", sh("touch y id"), edge("COMPLETE", None, Keep("id", "output", "id"))),
        slots=("id",), message=of("made ", slot("id")),
    ))  # fmt: skip
    assert re.search("with outputs: .* answer 1 pass --value 'id=…'\n", place.run("run", "--prompted").err)
    assert "expected NAME=VALUE" in place.run("answer", "1", "pass", "--value", "other=1").last
    refused = place.run("answer", "1", "pass", "--value", "id=\udcff")
    assert (refused.code, refused.last) == (2, "rdc: error: --value id is not UTF-8")
    assert place.run("answer", "1", "pass", "--value", "id=two\nlines").code == 0
    assert place.slots()["id"] == "two\nlines"
    assert "with values" not in place.run("resume").err, "the command writes none"
    place.run("answer", "2", "pass")
    assert place.run("resume").last == "rdc: COMPLETE made two lines"


def test_a_prompted_run_that_is_killed_asks_again(tmp_path: Path) -> None:
    commands = {str(number): shell("touch x", str(number + 1)) for number in range(1, 5)}
    place = Place(tmp_path, program({**commands, "5": ask("COMPLETE")}))
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


@pytest.mark.parametrize(("typed", "value"), [("two words\n", "two words"), ("\n", None)])
def test_values_are_asked_for_at_the_terminal(typed: str, value: str | None, tmp_path: Path) -> None:
    keep = (Keep("id", "output", "id"), Keep("other", "output", "other"))
    place = Compiled(tmp_path, compiled(
        node("1", sh('echo "id=$(make_one)" > "$RDC_OUTPUT"'), edge("2", None, *keep)),
        node("2", sh('printf "%s" "$id" > used'), variables=(Variable("id", "id"),)),
        slots=("id", "other"),
    ))  # fmt: skip
    screen = at_terminal(place, "run", "--prompted")
    talk(screen, r"Did 1[^?]*\? \[pass/fail\]", "p\n", r"id \(leave empty if there is none\): ", typed)
    talk(screen, r"Did 2[^?]*\? \[pass/fail\]", "p\n")
    assert screen.close() == 0
    assert place.slots() == {"id": value, "other": None}, "the command names one of the two"


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
    done = place.run("run", "--agent", f"cat > given; echo $RDC_STEP $RDC_TITLE $RDC_ATTEMPT > env; {command}")
    assert place.walk() == [f"1 {word}"], done.err
    assert how in done.err
    assert place.text("given").startswith("1 Review\n\nLook at it.\n\nrm -r x\n\nAnswer PASS or FAIL.")
    assert place.text("env") == "1 Review 1\n"


def test_what_must_be_given_again_is_repeated(tmp_path: Path) -> None:
    place = Place(tmp_path, TWO)
    words = ("--agent", "kill -INT $PPID; sleep 5", "--logs", "--log-limit", "9k", "--notify", "cat > e", "--as", "b")
    done = place.run("run", *words)
    assert (done.code, json.loads(place.text("e"))["event"]) == (130, "run_interrupted"), done.err
    assert "resume --as b --log-limit 9k --agent 'kill -INT $PPID; sleep 5'\n" in done.err
    assert place.run("run", RDC_AGENT="echo pass").code == 75, "the environment alone names no agent for prompts"
    done = place.run("run", "--agent", "echo FAIL", "--as", "c")
    assert done.code == 1, done.err
    assert "retry --as c --agent 'echo FAIL'\n" in done.err
