"""Questions whose reply is a value (E14): at the terminal, by `answer`, and from files of answers."""

import json
from pathlib import Path

import pytest

from compiler.ir.program import Variable
from compiler.ir.tasks import Ask, Value
from compiler.ir.texts import text
from tests.runtime_shim.operator import at_terminal, codes, talk, unchanged
from tests.support.runtime_programs import Compiled, edge, node, of, program, sh, slot, stored

pytestmark = pytest.mark.process

TICKET = Value("TICKET", pattern="#?[A-Z]*-?[0-9]+")
REGION = Value("REGION", "choice", ("eu", "us east"))


def asking(folder: Path, value: Value = TICKET) -> Compiled:
    """A program that asks for a value, and shows it in a command and a message."""
    ask = Ask("value", text("Name it."), value=value)
    made = program(
        node("1", ask, edge("2", "pass", stored("T")), edge("STOP", "fail")),
        node("2", sh('printf %s "$T" > got'), variables=(Variable("T", "T"),)),
        slots=("T",),
        message=of("for ", slot("T")),
    )
    return Compiled(folder, made)


@pytest.mark.parametrize(
    ("wanted", "reply", "value"),
    [
        (TICKET, "OPS-12", "OPS-12"),
        (TICKET, "  #7\n", "#7"),
        (Value("N", "number"), "-1.50", "-1.50"),
        (REGION, "us east", "us east"),
        (Value("X"), "$(touch x) `id` 'é", "$(touch x) `id` 'é"),
    ],
)
def test_an_answer_is_the_value(tmp_path: Path, wanted: Value, reply: str, value: str) -> None:
    place = asking(tmp_path, wanted)
    assert place.run("run").code == 75
    assert place.run("answer", "1", reply).code == 0
    done = place.run("resume")
    assert (done.code, done.last) == (0, f"rdc: COMPLETE for {value}")
    assert place.text("got") == value
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("value", "reply", "problem"),
    [
        (TICKET, "pass", "a value is required"),
        (TICKET, "YES", "a value is required"),
        (TICKET, " ", "a value is required"),
        (TICKET, "nope", "it does not match #?[A-Z]*-?[0-9]+"),
        (Value("TICKET"), "a\nb", "it has more than one line"),
        (Value("TICKET", "number"), "1,5", "it is not a decimal number"),
        (Value("TICKET", "choice", ("eu", "\x1b[31m")), "EU", "it must be one of eu, ?[31m"),
    ],
)
def test_pass_needs_a_valid_value(tmp_path: Path, value: Value, reply: str, problem: str) -> None:
    place = asking(tmp_path, value)
    assert place.run("run").code == 75
    with unchanged(place):
        refused = place.run("answer", "1", reply)
    assert (refused.code, refused.last) == (2, f"rdc: error: 1 needs a value for TICKET, or fail: {problem}")


@pytest.mark.parametrize("reply", ["fail", "No", ""])
def test_fail_stays_fail_and_gives_no_value(tmp_path: Path, reply: str) -> None:
    place = asking(tmp_path)
    assert place.run("run", *(() if reply else ("--expire", "1h"))).code == 75
    place.later(3601)
    assert place.run("answer", "1", reply or "fail").code == (0 if reply else 2), "it may have expired"
    assert place.run("resume").code == 1
    assert place.slots() == {"T": None}


def test_files_give_values(tmp_path: Path) -> None:
    place = asking(tmp_path)
    for answers in ("1 nope\n", '{"1": "nope"}', "\n1 pass\n"):
        (tmp_path / "answers").write_text(answers, encoding="utf-8")
        refused = place.run("run", "--answers", "answers")
        assert (refused.code, refused.last.startswith("rdc: error: answers:")) == (2, True)
    assert not place.journal.exists()
    for answers, value in {
        "1 #7\n": "#7",
        "# first\nOPS-1  # the ticket\n": "OPS-1",
        "1<<END\n OPS-2\nEND\n": "OPS-2",
        '{"1": "#3"}': "#3",
    }.items():
        (tmp_path / "answers").write_text(answers, encoding="utf-8")
        assert place.run("run", "--answers", "answers").code == 0
        assert place.slots() == {"T": value}


def test_a_bad_value_of_no_step_leaves_the_question(tmp_path: Path) -> None:
    """In a whole program, which does the same."""
    place = asking(tmp_path)
    place.bundle()
    (tmp_path / "answers").write_text("nope\n", encoding="utf-8")
    refused = place.run("run", "--answers", "answers")
    expected = ["line 1 of answers", "1 needs a value for TICKET, or fail"]
    assert (refused.code, refused.last.split(": ")[2:4]) == (2, expected)
    assert codes(place, "resume", "answer 1 nope", "answer 1 OPS-1", "resume") == [75, 2, 0, 0]


def test_a_terminal_asks_until_a_value_is_valid(tmp_path: Path) -> None:
    place = asking(tmp_path, REGION)
    screen = at_terminal(place)
    talk(screen, r"1 Step 1 \(REGION, one of eu, us east, or fail\): ", "\x1b[31m\n")
    talk(screen, "1 needs a value for REGION, or fail: it must be one of eu, us east\n", "us east\n")
    assert screen.close() == 0
    assert place.text("got") == "us east"


def test_the_status_lists_options_and_keeps_the_value(tmp_path: Path) -> None:
    place = asking(tmp_path, REGION)
    assert place.run("run").code == 75
    facts = json.loads(place.run("status", "--json").out)
    assert [each.rpartition(" answer ")[2] for each in facts["next"][:-1]] == ["1 eu", "1 'us east'", "1 fail"]
    assert place.run("answer", "1", "eu").code == 0
    assert json.loads(place.run("status", "--json").out)["slots"] == {"T": "eu"}
