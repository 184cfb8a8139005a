"""Inputs, answers, values and results are texts, whatever they say: nothing in them is run, and nothing steers."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.interpreters import ENDS, end_of_support
from tests.support.runtime_programs import (
    Ask,
    Compiled,
    Gate,
    Input,
    Keep,
    Parallel,
    Program,
    Reference,
    SlotTest,
    Text,
    Tool,
    Variable,
    agent,
    edge,
    node,
    of,
    program,
    sh,
    slot,
    text,
)

pytestmark = pytest.mark.process

NASTY = {
    "quotes": "'; touch x #\"; touch x; $(touch x) `touch x` ${IFS} ${{ github.token }}",
    "lines": "a\nb=c\nFOUND=stolen\n::set-output name=x::y\n::add-mask::z\n]]]}}%}{{ 7*7 }}{% raw %}",
    "terminal": "\x1b]0;owned\x07\x1b[2J\x1b]52;c;aGk=\x07\x9b31m abc\u202edcba\u2066x\u2069\u200f",
    "option": "--help",
    "marks": '<reply><input>{1.1}{2.1}"}\n00000000 {"n":5,"kind":"done"}',
}
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200f\u202a-\u202e\u2066-\u2069]")


def both(register: str) -> Reference:
    return slot(register, missing="none")


def everywhere() -> Text:
    return of("input: ", both("input"), "\nsaid: ", both("reply"), "\nfound: ", both("found"))


def whole() -> Program:
    variables = (Variable("INPUT", "input"), Variable("SAID", "reply"), Variable("FOUND", "found"))
    give = 'printf "FOUND<<.\\n%s\\n.\\n" "$SAID" > "$RDC_OUTPUT"'
    see = 'for v in INPUT SAID FOUND; do printenv "$v" > "got$v"; done'
    return program(
        node("1", agent(of("say ", both("input"))), edge("2", "pass", Keep("reply")), edge("STOP")),
        node("2", sh(give), edge("3", "pass", Keep("found", "output", "FOUND")), edge("STOP"), variables=variables),
        node("3", sh(see), edge("4", "pass"), edge("STOP"), variables=variables),
        node("4", Tool("t", "tool", of('{"a": "', both("found"), '"}')), edge("5", "pass", Keep("r")), edge("STOP"),
             title=of("title ", both("reply"))),
        node("5", Parallel((agent(everywhere()), agent("x"))), edge("6", "pass", Keep("p")), edge("STOP")),
        node("6", Gate("g", everywhere()), edge("7", "approved"), edge("STOP")),
        node("7", Ask("select", everywhere(), options=(text("no"), of(both("reply")))),
             edge("8", "<reply>", Keep("chosen")), edge("STOP")),
        node("8", Ask("input", everywhere()), edge("9", None, Keep("typed"))),
        node("9", sh("true"), edge("COMPLETE", "pass", tests=(SlotTest("typed", "!=", "x"),)), edge("STOP")),
        slots=("input", "reply", "found", "r", "p", "chosen", "typed"),
        inputs=(Input("input", "text"),),
        message=everywhere(),
    )  # fmt: skip


@pytest.mark.parametrize("kind", NASTY)
def test_text_stays_text(tmp_path: Path, kind: str) -> None:
    reply = NASTY[kind]
    place = Compiled(tmp_path, whole())
    (tmp_path / "reply").write_text(reply)
    answers = {"6": "approved", "7": reply, "8": reply}
    (tmp_path / "answers").write_text(json.dumps(answers))
    words = ("--agent", "cat > prompt; cat reply", "--tool", "t=cat > request; cat reply", "--events", "events")
    result = place.run("run", "--input", f"input={reply}", "--answers", "answers", *words)
    assert result.code == 0, result.err
    assert result.last.startswith("rdc: COMPLETE ")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [".rdc", "answers", "deploy.py", "events", "gotFOUND", "gotINPUT", "gotSAID", "prompt", "request", "reply"]
    )
    assert place.text("gotINPUT") == place.text("gotSAID") == place.text("gotFOUND") == f"{reply}\n"
    assert json.loads(place.text("request"))["arguments"] == {"a": reply}
    slots = place.slots()
    assert {slots[name] for name in ("input", "reply", "found", "r", "chosen", "typed")} == {reply}
    assert slots["p"] == f"{reply}\n\n{reply}"
    events = [json.loads(line) for line in place.text("events").splitlines()]
    assert {event["event"] for event in events} == {"run_started", "step_started", "step_finished", "run_finished"}
    shown = result.err + place.run("status").out + place.run("steps").out
    assert not CONTROL.search(shown), "nothing steers a terminal"
    assert json.loads(place.run("status", "--json").out)["slots"]["reply"] == reply
    lines = [line for line in result.err.splitlines() if line.startswith("rdc: ")]
    assert len(lines) == 1, "no text passes for a line of rdc"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--input", "input=a", "--answers", "half.json"), "not UTF-8"),
        (("--input", "input=@nul"), "NUL"),
        (("--inputs", "nul.json"), "NUL"),
        (("--input", "input=@big"), "big: larger than 1,048,576 bytes"),
        (("--input", "input=\udcff"), "not UTF-8"),
        (("--inputs", "half.json"), "not UTF-8"),
    ],
)
def test_input_that_no_target_could_keep_is_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    place = Compiled(tmp_path, whole())
    (tmp_path / "nul").write_bytes(b"a\0b")
    (tmp_path / "nul.json").write_text('{"input": "a\\u0000b"}')
    (tmp_path / "half.json").write_text('{"input": "a\\ud800", "8": "a\\ud800"}')
    (tmp_path / "big").write_text("x" * (1 << 20) + "y")
    result = place.run("run", *words)
    assert result.code == 2
    assert message in result.err
    assert not place.journal.exists()


def test_megabyte_is_kept_and_sent_but_is_no_variable(tmp_path: Path) -> None:
    place = Compiled(tmp_path, whole())
    big = "x" * (1 << 20)
    (tmp_path / "big").write_text(big)
    result = place.run("run", "--input", "input=@big", "--agent", "cat > prompt; echo fine")
    assert place.text("prompt") == f"say {big}"
    assert place.walk() == ["1 pass", "2 fail"]
    assert "INPUT is longer than 65,536 bytes" in result.err


def test_reply_of_a_person_stays_text(tmp_path: Path) -> None:
    asked = node("1", Ask("input", text("?")), edge("2", None, Keep("a")))
    shown = node("2", sh("printenv A > got"), variables=(Variable("A", "a"),))
    place = Compiled(tmp_path, program(asked, shown, slots=("a",)))
    assert place.run("run").code == 75
    assert place.run("answer", "1", NASTY["quotes"]).code == 0
    assert place.run("resume").code == 0
    assert place.text("got") == NASTY["quotes"] + "\n"


@pytest.mark.parametrize("which", ENDS)
def test_everything_runs_on_the_oldest_and_the_newest_python(tmp_path: Path, which: str) -> None:
    python = end_of_support(which)
    place = Compiled(tmp_path, whole())
    place.bundle()
    (tmp_path / "answers").write_text("6 approved\n7 no\n8 x\n")
    words = ["--answers", "answers", "--agent", "cat", "--tool", "t=cat", "--input", "input=x"]
    done = subprocess.run(
        [python, "-I", "-W", "error", str(place.script), "run", *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert place.walk()[-1] == "7 no", done.stderr
