"""Inputs, answers, values and results are texts: how programs store them, and that nothing in them runs (I5 to I9)."""

import json
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from compiler.ir.edges import Add, Clear, CounterTest, Keep, SlotTest
from compiler.ir.program import Counter, Input, Program, Settings, Variable
from compiler.ir.tasks import Ask, Gate, Parallel, Tool
from compiler.ir.texts import Reference, Text, text
from runtime_shim.values.limits import pause_of
from runtime_shim.values.slots import read_output
from tests.runtime_shim.operator import codes, ended, facts_of
from tests.support.interpreters import ENDS, end_of_support
from tests.support.process import kill, wait_until
from tests.support.runtime_programs import Compiled, agent, edge, node, of, program, sh, slot

pytestmark = pytest.mark.process

INPUTS = program(
    node("1", sh("printf '%s|' \"$NAME\" \"${NOTE-unset}\" \"$COUNT\" > got"), variables=(
        Variable("NAME", "name"), Variable("NOTE", "note"), Variable("COUNT", "count"),
    )),
    slots=("name", "note", "count", "kind"),
    inputs=(
        Input("name", pattern="[^%]+"), Input("note", "text", required=False), Input("count", "number", default="3"),
        Input("kind", "choice", default="a", options=("a", "b")),
    ),
)  # fmt: skip


def test_inputs_are_given(tmp_path: Path) -> None:
    place = Compiled(tmp_path, INPUTS)
    (tmp_path / "name").write_text("from a file\n")
    (tmp_path / "all.json").write_text('{"name": "json", "note": "two\\nlines", "count": -4.5}')
    for words, name, note, count in (
        (("--input", "name=Ann=1"), "Ann=1", None, "3"),
        (("--input", "name=@name", "--input", "note=@name"), "from a file", "from a file\n", "3"),
        (("--inputs", "all.json"), "json", "two\nlines", "-4.5"),
        (("--inputs", "all.json", "--input", "name=flag"), "flag", "two\nlines", "-4.5"),
    ):
        assert place.run("run", *words).code == 0
        assert place.text("got") == f"{name}|{'unset' if note is None else note}|{count}|"
        assert facts_of(place)["slots"] == {"name": name, "note": note, "count": count, "kind": "a"}


def test_unfit_inputs_are_refused_before_anything_runs(tmp_path: Path) -> None:
    place = Compiled(tmp_path, INPUTS)
    for name, content in {
        "nul": "a\0b", "nul.json": '{"note": "a\\u0000b"}', "half.json": '{"note": "a\\ud800"}', "bad.json": "{",
        "big": "x" * (1 << 20) + "y",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(content)
    for words, message in (
        ((), "input name: a value is required"),
        (("--input", "name=a%b"), "input name: it does not match"),
        (("--input", "name=a", "--input", "count=1e3"), "input count: it is not a decimal number"),
        (("--input", "name=a", "--input", "kind=c"), "input kind: it must be one of a, b"),
        (("--input", "name=a", "--input", "nam=b"), "there is no input nam"),
        (("--input", "name"), "expected NAME=VALUE"),
        (("--inputs", "bad.json"), "bad.json: not JSON"),
        (("--input", "name=a", "--input", "note=@nul"), "NUL"),
        (("--input", "name=a", "--inputs", "nul.json"), "NUL"),
        (("--input", "note=@big"), "big: larger than 1,048,576 bytes"),
        (("--input", "note=\udcff"), "not UTF-8"),
        (("--input", "name=a", "--inputs", "half.json"), "not UTF-8"),
    ):
        result = place.run("run", *words)
        assert (result.code, message in result.err) == (2, True), result.err
    asking = Compiled(tmp_path, program(node("8", Ask("input", text("?")))))
    (tmp_path / "half.json").write_text('{"8": "a\\ud800"}')
    result = asking.run("run", "--answers", "half.json")
    assert (result.code, "not UTF-8" in result.err, place.journal.exists()) == (2, True, False)


VALUES = program(
    node(
        "1",
        sh('. ./give "$RDC_OUTPUT"'),
        edge("2", "pass", Keep("a", "output", "A"), Keep("b", "output", "B")),
        edge("STOP", None, Keep("a", "output", "A")),
    ),
    node("2", sh('test -z "${RDC_OUTPUT-}"')),
    slots=("a", "b"),
)  # fmt: skip


def test_values_of_a_command(tmp_path: Path) -> None:
    place = Compiled(tmp_path, VALUES)
    for given, code, a, b in (
        ("printf 'A=1\\nB<<E\\nx\\n\\ny\\nE\\nA= 2=' > $1", 0, " 2=", "x\n\ny"),
        ("true", 0, None, None),
        ("echo A=1 > $1; false", 1, "1", None),
        ("echo C=1 > $1", 1, None, None),
        ("printf 'A=1\\njunk\\n' > $1", 1, None, None),
        ("printf 'A<<E\\nx\\n' > $1", 1, None, None),
        ("(printf A=; head -c 65537 /dev/zero | tr '\\0' x) > $1", 1, None, None),
        ("rm $1; ln -s /etc/passwd $1", 1, None, None),
        ("rm $1", 0, None, None),
    ):
        (tmp_path / "give").write_text(given + "\n")
        result = place.run("run")
        assert (result.code, place.slots()) == (code, {"a": a, "b": b}), result.err


def test_values_are_given_with_an_assumed_outcome(tmp_path: Path) -> None:
    place = Compiled(tmp_path, VALUES)
    (tmp_path / "give").write_text("kill -9 $PPID\n")
    place.run("run")
    time.sleep(0.2)
    for alone in ((), ("--rerun-interrupted",)):
        refused = place.run("resume", "--value", "A=1", *alone)
        assert (refused.code, "--assume WORD" in refused.err) == (2, True), refused.err
    assert codes(place, "resume --assume pass --value C=1", "resume --assume pass --value A=x=y") == [2, 0]
    assert place.slots() == {"a": "x=y", "b": None}


def test_value_that_does_not_fit_into_the_environment_fails_the_step(tmp_path: Path) -> None:
    second = node("2", sh("touch ran"), edge("COMPLETE", "fail"), edge("STOP"), variables=(Variable("A", "a"),))
    place = Compiled(tmp_path, program(node("1", agent("x"), edge("2", None, Keep("a"))), second, slots=("a",)))
    result = place.run("run", "--agent", "head -c 65537 /dev/zero | tr '\\0' x")
    assert place.walk() == ["1 pass", "2 fail"]
    assert "A is longer than 65,536 bytes" in result.err
    assert not (tmp_path / "ran").exists()


def test_slots_are_tested_and_taken_out_of_json(tmp_path: Path) -> None:
    first = node("1", agent("x"), edge("2", None, Keep("a", extract="to")))
    second = node(
        "2", sh("true"), edge("COMPLETE", tests=(SlotTest("a", "==", "x y"),)), edge("3", None, Clear("a"))
    )  # fmt: skip
    third = node("3", sh("true"), edge("STOP", tests=(SlotTest("a", "!=", ""),)), edge("COMPLETE"))
    place = Compiled(tmp_path, program(first, second, third, slots=("a",)))
    assert place.run("run", "--agent", 'echo {\\"to\\": \\" x y \\"} and more').code == 0
    assert place.walk() == ["1 pass", "2 pass"]
    assert place.run("run", "--agent", "echo x").code == 0
    assert place.walk() == ["1 pass", "2 pass", "3 pass"]


def test_attempts_wait_longer_and_longer() -> None:
    step = {"attempt": "r", "delay": 3, "backoff": 2}
    assert [pause_of(step, {"r": used}) for used in range(4)] == [0, 3, 6, 12]
    assert pause_of(step, {"r": 10**6}) <= 10**8
    assert pause_of({"attempt": "r"}, {"r": 3}) == 0


def test_pause_is_interrupted_and_resumed_for_what_is_left(tmp_path: Path) -> None:
    again = edge("1", "fail", Add("r", 1), tests=(CounterTest("r", "<", 2),))
    step = node("1", sh("date +%s.%N >> log; false"), again, edge("STOP"), retries="r", settings=Settings(delay=2))
    place = Compiled(tmp_path, program(step, counters=(Counter("r", "1", role="retries", of="1"),)))
    runner = place.start("run")
    wait_until(lambda: '"due"' in place.text(".rdc/deploy/journal"))
    begun = time.monotonic()
    assert ended(runner, signal.SIGTERM)[0] == 130
    assert time.monotonic() - begun < 2
    assert "READY at 1" in place.run("status").out, "nobody need decide about a pause"
    runner = place.start("resume")
    time.sleep(0.3)
    kill(runner)
    runner = place.start("resume")
    while len(place.text("log").split()) < 2:
        time.sleep(0.02)
    kill(runner)
    first, second = map(float, place.text("log").split()[:2])
    assert 2 <= second - first < 4


def test_limit_ends_the_run_and_gates_do_not_count(tmp_path: Path) -> None:
    made = program(
        node("1", sh("echo >> log"), edge("g")), node("g", Gate("g", text("")), edge("2")),
        node("2", Ask("pass_fail", text("?")), edge("1")),
        limit=3,
    )  # fmt: skip
    place = Compiled(tmp_path, made)
    (tmp_path / "answers").write_text("g approved\ng approved\ng approved\npass\npass\npass\n")
    result = place.run("run", "--answers", "answers")
    assert (result.code, result.last) == (1, "rdc: STOP 2: the limit of 3 steps was reached")
    assert place.walk() == ["1 pass", "g approved", "2 pass", "1 pass", "g approved"]
    assert place.run("resume").last == "rdc: STOP 2: the limit of 3 steps was reached"


def test_texts_are_filled_in_one_pass(tmp_path: Path) -> None:
    asked = node("1", Ask("input", text("?")), edge("2", None, Keep("a")), edge("STOP"))
    shown = of("<a> is ", slot("a", before="[", after="]", missing="nothing"), ", b is ", slot("b", missing="none"))
    place = Compiled(tmp_path, program(asked, node("2", agent(shown)), slots=("a", "b")))
    (tmp_path / "answers").write_text("1 <b>{1.1}<a>\n")
    assert place.run("run", "--answers", "answers", "--agent", "cat > prompt; echo x").code == 0
    assert place.text("prompt") == "<a> is [<b>{1.1}<a>], b is none"


def test_malformed_values_are_refused() -> None:
    assert read_output(b"A=x\nA<<E\nE", ["A"]) == {"A": ""}
    assert read_output(b"", ["A"]) == {}
    for content in (b"\n", b"A=x\n\n", b"A=\0\n", b"A=\xff\n", b"A", b"A <<E\nE\n", b"=1\n", b"A<<E\nx\nF"):
        with pytest.raises(ValueError):  # noqa: PT011 (each has its own words)
            read_output(content, ["A"])


NASTY = {
    "quotes": "'; touch x #\"; touch x; $(touch x) `touch x` ${IFS} ${{ github.token }}",
    "lines": "a\nb=c\nFOUND=stolen\n::set-output name=x::y\n::add-mask::z\n]]]}}%}{{ 7*7 }}{% raw %}",
    "terminal": "\x1b]0;owned\x07\x1b[2J\x1b]52;c;aGk=\x07\x9b31m abc\u202edcba\u2066x\u2069\u200f",
    "option": "--help",
    "marks": '<reply><input>{1.1}{2.1}"}\n00000000 {"n":5,"kind":"done"}',
}


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
    (tmp_path / "answers").write_text(json.dumps({"6": "approved", "7": reply, "8": reply}))
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
    events = {json.loads(line)["event"] for line in place.text("events").splitlines()}
    assert events == {"run_started", "step_started", "step_finished", "run_finished"}
    shown = result.err + place.run("status").out + place.run("steps").out
    steering = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200f\u202a-\u202e\u2066-\u2069]"
    assert not re.search(steering, shown), "nothing steers a terminal"
    assert facts_of(place)["slots"]["reply"] == reply
    lines = [line for line in result.err.splitlines() if line.startswith("rdc: ")]
    assert len(lines) == 1, "no text passes for a line of rdc"


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
    assert codes(place, "run", f"answer 1 {shlex.quote(NASTY['quotes'])}", "resume") == [75, 0, 0]
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
