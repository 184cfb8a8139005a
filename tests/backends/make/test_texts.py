"""Makefiles of programs with slots, texts, values and inputs, in which nothing that anybody says is ever evaluated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.ir.edges import Keep, SlotTest
from compiler.ir.program import Counter, Input, Program, Slot, Variable
from compiler.ir.semantics import Machine
from compiler.ir.tasks import Branch
from compiler.ir.texts import Text
from tests.support.backend_programs import Made, always, ask, gate, node, program, ref, shell, slots, when, words

pytestmark = pytest.mark.share(3)

# What somebody may say to an input, a question, or by a command, and what might be taken for something to obey.
HOSTILE = [
    "$(touch x)",
    "'; rm -rf . '",
    "${{ github.token }}",
    "a\nb=c",
    "::set-output name=x::y",
    "]]]",
    "$(shell touch x)",
    "`touch x`",
    '"; touch x; "',
    "#<\n#> name_u1_1\n#| other",
    "\\\n\\",
    "%s%n\\0\\x41",
    "{a}{b}",
    "-n",
    "*",
    "a \u202e b \u2066 c",
    "\x1b]0;title\x07\x1b[31m",
    "end\n",
    "\n\nend",
    "1 = 1 ] || touch x #",
    "rdc_s1_a=7",
    "é🚀\u2028",
]
NUMBERS = range(len(HOSTILE))


def said() -> Program:
    """A program that shows its input, keeps a reply, and gives both to a command, which gives the input back."""
    command = 'printf %s "$A" > a; printf %s "$B" > b; printf \'v<<EOF\\n%s\\nEOF\\n\' "$A" > "$RDC_OUTPUT"'
    return program(
        node("ask", ask("input", prompt=words("<", ref("a"), ">")), always("show", Keep("b"))),
        node("show", shell(command), when("pass", "done", Keep("c", of="output", name="v")), when("fail", "stop"),
             variables=(Variable("A", "a"), Variable("B", "b"))),
        message=words(ref("b"), "|", ref("c")),
        slots=slots("a", "b", "c"),
        inputs=(Input("a", type="text"),),
    )  # fmt: skip


def said_at_once() -> Program:
    """The same for all that is hostile, in one run, with tests on each value."""
    shows = [f'printf %s "$A{n}" > a{n}; printf %s "$B{n}" > b{n}' for n in NUMBERS]
    gives = [f'printf \'v{n}<<EOF\\n%s\\nEOF\\n\' "$A{n}" >> "$RDC_OUTPUT"' for n in NUMBERS]
    asks = [
        node(f"ask{n}", ask("input", prompt=words("<", ref(f"a{n}"), ">")),
             always(f"ask{n + 1}" if n + 1 < len(HOSTILE) else "show", Keep(f"b{n}")))
        for n in NUMBERS
    ]  # fmt: skip
    kept = [Keep(f"c{n}", of="output", name=f"v{n}") for n in NUMBERS]
    same = [
        node(f"same{n}", Branch(),
             always("stop", tests=[SlotTest(f"c{n}", "!=", value)]),
             always(f"same{n + 1}" if n + 1 < len(HOSTILE) else "done", tests=[SlotTest(f"a{n}", "==", value)]),
             always("stop"))
        for n, value in enumerate(HOSTILE)
    ]  # fmt: skip
    return program(
        *asks,
        node("show", shell("\n".join([*shows, *gives])), when("pass", "same0", *kept), when("fail", "stop"),
             variables=tuple(Variable(f"{name.upper()}{n}", f"{name}{n}") for n in NUMBERS for name in "ab")),
        *same,
        message=words(*(ref(f"c{n}") for n in NUMBERS)),
        slots=slots(*(f"{name}{n}" for n in NUMBERS for name in "abc")),
        inputs=tuple(Input(f"a{n}", type="text") for n in NUMBERS),
    )  # fmt: skip


def test_what_anybody_says_stays_text(tmp_path: Path) -> None:
    made = Made(tmp_path, said_at_once())
    replies = "".join(f"ask{n}<<EOF\n{value}\nEOF\n" for n, value in enumerate(HOSTILE))
    (tmp_path / "answers").write_text(replies, encoding="utf-8")
    # Make takes away spaces before a value: such a one is given by a file.
    given = {f"a{n}": value for n, value in enumerate(HOSTILE)}
    listed = {name: value for name, value in given.items() if value[0].isspace()}
    (tmp_path / "inputs").write_text(json.dumps(listed), encoding="utf-8")
    words_of_make = [f"{name}={value}" for name, value in given.items() if not value[0].isspace()]
    done = made.make(*words_of_make, "INPUTS=inputs", "ANSWERS=answers")
    assert done.stdout.decode().splitlines()[-1].startswith("rdc: COMPLETE"), done.stderr.decode()
    for n, value in enumerate(HOSTILE):
        kept = value.strip(" \t\r\n\v\f")  # of a reply, which has no white space at its ends
        assert (made.read(f"a{n}").decode(), made.read(f"b{n}").decode()) == (value, kept)
    names = {"Makefile", ".rdc", "rdc", "answers", "inputs", *(f"{name}{n}" for n in NUMBERS for name in "ab")}
    assert {path.name for path in tmp_path.iterdir()} == names
    shown = (done.stdout + done.stderr).decode()
    assert not [character for character in shown if not character.isprintable() and character not in "\n\t"]


def test_a_reply_on_the_command_line_stays_text(tmp_path: Path) -> None:
    made = Made(tmp_path, said())
    value = "$(shell touch x) $(touch x) ${{ x }} 'q' \"d\" \\ `touch x` %s"
    assert made.end("a=x") == "rdc: WAITING ask"
    assert made.make("answer", "STEP=ask", f"REPLY={value}").returncode == 0
    assert made.end("resume") == f"rdc: COMPLETE {value}|x"
    assert made.read("b").decode() == value
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (b"a: \xff", "inputs: not UTF-8"),
        (json.dumps({"a": "x" * 1_048_577}).encode(), "inputs: larger than 1,048,576 bytes"),
    ],
    ids=["no UTF-8", "too long"],
)
def test_what_is_no_text_is_refused_before_anything_runs(value: bytes, says: str, tmp_path: Path) -> None:
    made = Made(tmp_path, said())
    (tmp_path / "inputs").write_bytes(value)
    assert made.end("INPUTS=inputs") == f"rdc: error: {says}"
    assert not (made.state / "journal").exists()


def test_a_long_text_is_kept_and_compared_byte_for_byte(tmp_path: Path) -> None:
    value = ("é\n" * 50_000)[:-1]
    whole = program(
        node("same", Branch(), always("other", tests=[SlotTest("a", "==", value)]), always("stop")),
        node("other", Branch(), always("stop", tests=[SlotTest("a", "==", f"{value}\n")]), always("done")),
        slots=slots("a"),
        inputs=(Input("a", type="text"),),
    )
    made = Made(tmp_path, whole)
    (tmp_path / "inputs").write_text(json.dumps({"a": value}, ensure_ascii=False), encoding="utf-8")
    assert made.end("INPUTS=inputs") == "rdc: COMPLETE"


# --- Texts ------------------------------------------------------------------------------------------------------------


def filled_by(whole: Program, item: Text, values: dict[str, str]) -> str:
    """A text as the semantics fills it in when a run begins."""
    machine = Machine(whole)
    return machine.text(machine.start(values), item)


def test_texts_are_filled_in_once_and_exactly(tmp_path: Path) -> None:
    item = words(
        "\n {b}\n", ref("a"), ref("a", before="<\n", after="\n>"), ref("n"), "$N\\\n", ref("u", missing="no\nu\n"),
        ref("u", before="b", after="a"), "\n", ref("count", before="(", after=")"), "end\n\n",
    )  # fmt: skip
    question = ask("input", prompt=item)
    whole = program(
        node("1", question, always("done")),
        slots=(*slots("a", "b", "u"), Slot("n", "")),
        counters=(Counter("count", "", 7),),
        inputs=(Input("a", type="text"), Input("b", default="B")),
    )
    value = "x {b} &\\1\n"
    made = Made(tmp_path, whole)
    done = made.make(f"a={value}")
    assert done.stdout.splitlines()[-1] == b"rdc: WAITING 1"
    expected = [f"    {line}".rstrip() for line in filled_by(whole, item, {"a": value}).strip("\n").splitlines()]
    assert "\n".join(expected) in done.stderr.decode()


# --- Values (I9) ------------------------------------------------------------------------------------------------------


def giving(output: str, code: int = 0) -> Program:
    """A program of a command that writes this to RDC_OUTPUT and ends so; its values are shown at the end."""
    command = f"printf '{output}' >> \"$RDC_OUTPUT\"; exit {code}"
    keeps = (Keep("a", of="output", name="one"), Keep("b", of="output", name="two"))
    return program(
        node("1", shell(command), when("pass", "end", *keeps), when("fail", "end", *keeps)),
        node("end", shell('[ -z "${RDC_OUTPUT-}" ]'), when("pass", "done"), when("fail", "stop")),
        message=words(ref("a"), ",", ref("b")),
        slots=(Slot("a", "A"), Slot("b", "B")),
    )


@pytest.mark.parametrize(
    ("output", "word", "values"),
    [
        ("one=1\\n", "PASS", "1,B"),
        ("one=1\\none=2=3\\ntwo=<<x", "PASS", "2=3,<<x"),
        ("two<<X\\na\\nX \\nX\\none=\\n", "PASS", ",a X"),
        ("three=3\\none=1\\n", "FAIL", "A,B"),
    ],
)
def test_a_command_gives_values(output: str, word: str, values: str, tmp_path: Path) -> None:
    done = Made(tmp_path, giving(output)).make()
    assert done.stdout.decode().splitlines()[-1] == f"rdc: COMPLETE {values}"
    assert f"    {word}  " in done.stderr.decode(), done.stderr


# --- Inputs (I8) ------------------------------------------------------------------------------------------------------

INPUTS = (
    Input("text", type="text", required=False),
    Input("number", type="number", default="1"),
    Input("flag", type="boolean", default="false"),
    Input("kind", type="choice", options=("a b", "c"), default="c"),
    Input("name", pattern="[a-z]+|[0-9]{2}", default="x"),
    Input("needed"),
)


def shows_inputs() -> Program:
    """A program that shows its inputs at its end."""
    parts = [part for item in INPUTS for part in (ref(item.name, missing="-"), ";")]
    return program(
        node("1", shell(": ")),
        message=words(*parts),
        slots=slots(*(item.name for item in INPUTS)),
        inputs=INPUTS,
    )


def test_inputs_have_their_values_from_make_a_file_or_their_defaults(tmp_path: Path) -> None:
    made = Made(tmp_path, shows_inputs())
    hidden = {"RDC_GIVEN_input_2": "7", "RDC_GIVEN_INPUTS": "none"}
    assert made.end("needed=n", text="of the environment", **hidden) == "rdc: COMPLETE -;1;false;c;x;n;"
    given = {"needed": "file", "number": -2.5, "text": "several\nlines"}
    (tmp_path / "inputs").write_text(json.dumps(given), encoding="utf-8")
    assert made.end("INPUTS=inputs", "flag=true", "number=3") == "rdc: COMPLETE several lines;3;true;c;x;file;"
    assert made.end("needed=", "kind=a b", "name=42") == "rdc: COMPLETE -;1;false;a b;42;;"


UNFIT = [
    ([], "input needed: a value is required; set it with needed=VALUE"),
    (["needed=a\nb"], "input needed: it has more than one line; set it with needed=VALUE"),
    (["needed=a", "name=x1"], "input name: it does not match [a-z]+|[0-9]{2}; set it with name=VALUE"),
    (["INPUTS=none"], "none: No such file or directory"),
    (["INPUTS=wrong"], "wrong: line 1: expected NAME=VALUE or NAME<<WORD, and the file is not a JSON object"),
    (
        ["needed=a", "INPUTS=wrong.json"],
        "there is no input other; the inputs are text, number, flag, kind, name, needed",
    ),
]


def test_unfit_inputs_leave_everything_as_it_was(tmp_path: Path) -> None:
    made = Made(tmp_path, shows_inputs())
    (tmp_path / "wrong").write_text("needed a\nother=b\n", encoding="utf-8")
    (tmp_path / "wrong.json").write_text('{"other": "b"}', encoding="utf-8")
    assert made.end("needed=before").startswith("rdc: COMPLETE")
    journal = (made.state / "journal").read_bytes()
    for given, says in UNFIT:
        assert made.end(*given) == f"rdc: error: {says}", given
        assert (made.state / "journal").read_bytes() == journal
    assert made.end("resume") == "rdc: COMPLETE -;1;false;c;x;before;"


def test_inputs_and_answers_may_be_json(tmp_path: Path) -> None:
    whole = program(
        node("1", ask("input"), always("2", Keep("r"))),
        node("2", ask("confirm"), when("yes", "1"), when("no", "done")),
        message=words(ref("a"), "|", ref("n"), "|", ref("r")),
        slots=slots("a", "n", "r"),
        inputs=(Input("a", type="text"), Input("n", type="number")),
    )
    made = Made(tmp_path, whole)
    (tmp_path / "inputs").write_text(' {"a": "END0\\n$(touch x)\\u0027", "n": 1.5}', encoding="utf-8")
    (tmp_path / "answers").write_text('{"1": ["x", "é\\ny"], "2": ["yes", "no"]}', encoding="utf-8")
    assert made.end("INPUTS=inputs", "ANSWERS=answers") == "rdc: COMPLETE END0 $(touch x)'|1.5|é y"


def test_a_new_run_archives_the_last_one(tmp_path: Path) -> None:
    made = Made(tmp_path, shows_inputs())
    made.make("needed=one")
    made.make("needed=two")
    (old,) = (made.state / "history").glob("20*")
    assert '"needed":"one"' in old.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["PATH", "SHELL", "MAKEFLAGS", "RDC_STEP", "ANSWERS"])
def test_an_input_that_make_would_misunderstand_is_refused(name: str) -> None:
    whole = program(node("1", gate()), slots=slots(name), inputs=(Input(name),))
    found = MakeBackend().emit(whole, {})
    assert [item.code for item in found.diagnostics] == ["RD530"]
    assert found.text is None


# --- Damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", ['"node":"1/;>x"', '"node":"9"', '"node":"$(touch x)"', '"node": "1"'])
def test_nothing_of_a_journal_is_evaluated(changed: str, tmp_path: Path) -> None:
    made = Made(tmp_path, program(node("1", ask("input", prompt=words(ref("a")))), slots=slots("a")))
    assert made.end() == "rdc: WAITING 1"
    path = made.state / "journal"
    path.write_text(path.read_text().replace('"node":"1"', changed, 1), encoding="utf-8")
    for given in (["resume"], ["status"], ["answer", "STEP=1", "REPLY=x"]):
        assert "damaged" in made.end(*given)
    assert not (tmp_path / "x").exists()
