"""Makefiles that put questions and wait at gates: answers one by one, from a file, and what is no answer."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

from compiler.ir.edges import Keep
from compiler.ir.program import Program
from compiler.ir.texts import text
from tests.support.backend_programs import (
    Made,
    always,
    ask,
    gate,
    node,
    program,
    ref,
    slots,
    when,
    words,
)
from tests.support.makefiles import environment


def questions() -> Program:
    """A program that asks in every form; its replies are shown at the end."""
    kept = [Keep(name) for name in "abcde"]
    return program(
        node("pf", ask("pass_fail"), when("pass", "yn", kept[0]), when("fail", "stop")),
        node("yn", ask("yes_no"), when("pass", "co", kept[1]), when("fail", "stop")),
        node("co", ask("confirm"), when("no", "in", kept[2]), when("yes", "stop")),
        node("in", ask("input"), always("se", kept[3])),
        node("se", ask("select", words("<", ref("d"), ">"), text("other")), when("<{d}>", "g", kept[4]),
             when("other", "stop")),
        node("g", gate("why"), when("approved", "h"), when("rejected", "stop")),
        node("h", gate(), when("approved", "stop"), when("rejected", "done")),
        message=words(*(part for name in "abcde" for part in (ref(name), ";"))),
        slots=slots(*"abcde"),
    )  # fmt: skip


def test_answers_are_given_one_by_one(tmp_path: Path) -> None:
    made = Made(tmp_path, questions())
    last = made.end()
    assert last == "rdc: WAITING pf"
    replies = [("pf", "PASS"), ("yn", "yes"), ("co", "no"), ("in", " a # b=c \t"), ("se", "<a # b=c>"),
               ("g", "approved"), ("h", "rejected")]  # fmt: skip
    assert made.end("answer", "STEP=yn", "REPLY=pass") == "rdc: error: yn is not waiting for an answer; pf is"
    assert "rdc: error: wrong: expected " in made.end("answer", "STEP=pf", "REPLY=wrong")
    for step, reply in replies:
        done = made.make("answer", f"STEP={step}", f"REPLY={reply}")
        assert done.returncode == 0, done.stdout
        last = made.end("resume")
    assert last == "rdc: COMPLETE PASS;yes;no;a # b=c;<a # b=c>;"
    lines = [line.partition(",")[0].split() for line in made.make("status").stdout.decode().splitlines()]
    assert [" ".join(line) for line in lines if len(line) == 2 and line[1] in dict(replies)] == [
        "PASS pf", "YES yn", "NO co", "PASS in", "<{D}> se", "APPROVED g", "REJECTED h",
    ]  # fmt: skip


def test_what_is_printed_for_a_step_that_waits_can_be_pasted(tmp_path: Path) -> None:
    """Under any name of the Makefile, for each form of question; the first reply that is offered is given."""
    made = Made(tmp_path, questions())
    name = "it's.mk"
    (tmp_path / "Makefile").rename(tmp_path / name)
    given = {"in": "< x'$(touch pwned)`touch pwned`", "se": "<< x'$(touch pwned)`touch pwned`>"}
    said = made.make("-f", name)
    for _ in range(6):
        lines = re.findall("^rdc: to (?:answer|continue): (.*)$", said.stdout.decode(), re.MULTILINE)
        answer, *_, resume = lines
        assert len(lines) == (2 if "REPLY=-" in answer else 3)
        step = said.stdout.decode().split()[-1]
        if step in given:
            assert answer.endswith(" < FILE")
            answer = answer.replace("FILE", step)
            (tmp_path / step).write_text(given[step], encoding="utf-8")
        for command in (answer if step != "co" else lines[1], resume):
            said = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment({}),
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False)  # fmt: skip
        if step == "g":
            break
    assert said.stdout.decode().endswith("rdc: WAITING h\n")
    assert (
        made.end("-f", name, "answer", "STEP=h", "REPLY=rejected")
        == f"rdc: to continue: make -f {shlex.quote(name)} resume"
    )
    assert made.end("-f", name, "resume") == f"rdc: COMPLETE pass;yes;no;{given['in']};<{given['in']}>;"
    assert not (tmp_path / "pwned").exists()


def test_answers_come_from_a_file_and_a_gate_is_opened_by_name_only(tmp_path: Path) -> None:
    made = Made(tmp_path, questions())
    lines = [
        "co no",
        "pass",
        "in<<END",
        "\f",
        " two",
        " ",
        "lines # x\u2003 \v",
        "",
        "END",
        "yes",
        "approved",
        "se<<END",
        "<two",
        " ",
        "lines # x\u2003>",
        "END",
    ]
    (tmp_path / "answers").write_text("\ufeff" + "\r\n".join([*lines, "h rejected", ""]), encoding="utf-8")
    assert (
        made.end("ANSWERS=answers")
        == "rdc: error: line 12 of answers: <two lines # x >: expected one of <two lines # x >, other"
    )
    (tmp_path / "answers").write_text("\n".join([*lines, "h rejected", ""]), encoding="utf-8")
    made.make("clean")
    assert made.end("ANSWERS=answers") == "rdc: WAITING g"
    assert made.end("resume", "ANSWERS=answers", "HUMAN=1").startswith("rdc: COMPLETE pass;yes;no;two lines # x")
    kept = json.loads(made.make("status", "JSON=1").stdout)["slots"]
    said = "two\n \nlines # x\u2003"
    assert (kept["d"], kept["e"]) == (said, f"<{said}>")


def test_links_in_the_state_lead_nowhere(tmp_path: Path) -> None:
    made = Made(tmp_path, program(node("1", ask("input"), always("done", Keep("a"))), slots=slots("a")))
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    victim.write_text("mine", encoding="utf-8")
    folder.mkdir()
    made.state.mkdir(parents=True)
    for name, to in (("new", victim), ("journal.whole", victim), ("prompts", folder)):
        (made.state / name).symlink_to(to)
        assert f"/{name} is a link" in made.end()
        (made.state / name).unlink()
    assert made.end() == "rdc: WAITING 1"
    made.make("answer", "STEP=1", "REPLY=yours")
    assert made.end("resume") == "rdc: COMPLETE"
    assert victim.read_text() == "mine"
    assert list(folder.iterdir()) == []


def test_the_flag_for_a_person_opens_one_gate(tmp_path: Path) -> None:
    made = Made(tmp_path, program(node("g", gate(), always("h")), node("h", gate())))
    assert made.end("HUMAN=1") == "rdc: WAITING h"
    assert made.end("resume", "HUMAN=1") == "rdc: COMPLETE"
