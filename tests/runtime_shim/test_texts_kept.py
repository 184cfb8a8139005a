"""Inputs, values, tests on slots, settings and limits (I5 to I9, I17, I19, I21 to I24)."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from compiler.ir.edges import Add, CounterTest
from runtime_shim.values.limits import pause_of
from runtime_shim.values.slots import read_output
from tests.support.process import kill, wait_until
from tests.support.runtime_programs import (
    Ask,
    Clear,
    Compiled,
    Counter,
    Edge,
    Gate,
    Input,
    Keep,
    Settings,
    SlotTest,
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


@pytest.mark.parametrize(
    ("words", "got"),
    [
        (("--input", "name=Ann=1"), "Ann=1|unset|3|"),
        (("--input", "name=@name", "--input", "note=@name"), "from a file|from a file\n|3|"),
        (("--inputs", "all.json"), "json|two\nlines|-4.5|"),
        (("--inputs", "all.json", "--input", "name=flag"), "flag|two\nlines|-4.5|"),
    ],
)
def test_inputs_are_given(tmp_path: Path, words: tuple[str, ...], got: str) -> None:
    place = Compiled(tmp_path, INPUTS)
    (tmp_path / "name").write_text("from a file\n")
    (tmp_path / "all.json").write_text('{"name": "json", "note": "two\\nlines", "count": -4.5}')
    assert place.run("run", *words).code == 0
    assert place.text("got") == got


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "input name: a value is required"),
        (("--input", "name=a%b"), "input name: it does not match"),
        (("--input", "name=a", "--input", "count=1e3"), "input count: it is not a decimal number"),
        (("--input", "name=a", "--input", "kind=c"), "input kind: it must be one of a, b"),
        (("--input", "name=a", "--input", "nam=b"), "there is no input nam"),
        (("--input", "name"), "expected NAME=VALUE"),
        (("--input", "name=@gone"), "input name: the file gone does not exist"),
        (("--inputs", "bad.json"), "bad.json: not JSON"),
    ],
)
def test_unfit_inputs_are_refused_before_anything_runs(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    place = Compiled(tmp_path, INPUTS)
    (tmp_path / "bad.json").write_text("{")
    result = place.run("run", *words)
    assert result.code == 2
    assert message in result.err
    assert not place.journal.exists()


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


@pytest.mark.parametrize(
    ("given", "code", "a", "b"),
    [
        ("printf 'A=1\\nB<<E\\nx\\n\\ny\\nE\\nA= 2=' > $1", 0, " 2=", "x\n\ny"),
        ("true", 0, None, None),
        ("echo A=1 > $1; false", 1, "1", None),
        ("echo C=1 > $1", 1, None, None),
        ("printf 'A=1\\njunk\\n' > $1", 1, None, None),
        ("printf 'A<<E\\nx\\n' > $1", 1, None, None),
        ("(printf A=; head -c 65537 /dev/zero | tr '\\0' x) > $1", 1, None, None),
        ("rm $1; ln -s /etc/passwd $1", 1, None, None),
        ("rm $1", 0, None, None),
    ],
)
def test_values_of_a_command(tmp_path: Path, given: str, code: int, a: str | None, b: str | None) -> None:
    place = Compiled(tmp_path, VALUES)
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
    assert place.run("resume", "--assume", "pass", "--value", "C=1").code == 2
    assert place.run("resume", "--assume", "pass", "--value", "A=x=y").code == 0
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


def retrying(*more: Edge, **settings: int) -> object:
    counted = CounterTest("r", "<", 2)
    again = edge("1", "fail", Add("r", 1), tests=(counted,))
    return program(
        node("1", sh("date +%s.%N >> log; false"), again, *more, edge("STOP"), retries="r",
             settings=Settings(**settings)),
        counters=(Counter("r", "1", role="retries", of="1"),),
    )  # fmt: skip


def test_attempts_wait_longer_and_longer() -> None:
    step = {"attempt": "r", "delay": 3, "backoff": 2}
    assert [pause_of(step, {"r": used}) for used in range(4)] == [0, 3, 6, 12]
    assert pause_of(step, {"r": 10**6}) <= 10**8
    assert pause_of({"attempt": "r"}, {"r": 3}) == 0


def test_pause_is_interrupted_and_resumed_for_what_is_left(tmp_path: Path) -> None:
    place = Compiled(tmp_path, retrying(delay=2))  # type: ignore[arg-type]
    runner = place.start("run")
    wait_until(lambda: '"due"' in place.text(".rdc/deploy/journal"))
    begun = time.monotonic()
    runner.send_signal(signal.SIGTERM)
    runner.communicate(timeout=10)
    assert runner.returncode == 130
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


def test_status_tells_slots(tmp_path: Path) -> None:
    place = Compiled(tmp_path, INPUTS)
    assert place.run("run", "--input", "name=Ann").code == 0
    facts = json.loads(place.run("status", "--json").out)
    assert facts["slots"] == {"name": "Ann", "note": None, "count": "3", "kind": "a"}


@pytest.mark.parametrize(
    "content", [b"\n", b"A=x\n\n", b"A=\0\n", b"A=\xff\n", b"A", b"A <<E\nE\n", b"=1\n", b"A<<E\nx\nF"]
)
def test_malformed_values_are_refused(content: bytes) -> None:
    assert read_output(b"A=x\nA<<E\nE", ["A"]) == {"A": ""}
    assert read_output(b"", ["A"]) == {}
    with pytest.raises(ValueError):  # noqa: PT011 (each has its own words)
        read_output(content, ["A"])
