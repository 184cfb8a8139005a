"""Inputs that a terminal asks for, and files of inputs and answers (E1, I8)."""

from pathlib import Path

import pytest

from compiler.ir.program import Input, Variable
from tests.runtime_shim.operator import at_terminal, codes, talk
from tests.support.process import Place, Screen, ask, program, shell
from tests.support.runtime_programs import Compiled, node, sh
from tests.support.runtime_programs import program as compiled_program

pytestmark = pytest.mark.process

INPUTS = (
    Input("version", pattern="[0-9.]+", description="What to \x1b[31mrelease"),
    Input("where", "choice", options=("blue", "green"), default="blue"),
    Input("note", required=False),
)


@pytest.fixture
def place(tmp_path: Path) -> Compiled:
    """A program with an input that is needed, one with a default, and one that may be left out."""
    command = sh('echo "$V|$W|${N-unset}" > got')
    variables = (Variable("V", "version"), Variable("W", "where"), Variable("N", "note"))
    made = compiled_program(node("1", command, variables=variables), slots=("version", "where", "note"), inputs=INPUTS)
    return Compiled(tmp_path, made)


def test_missing_inputs_are_asked_for_at_a_terminal(place: Compiled) -> None:
    screen = at_terminal(place)
    assert "\x1b[31m" not in screen.expect("version: What to [^\n]*release\nversion: ")
    screen.type("one\n")
    talk(screen, r"it does not match \[0-9\.\]\+\nversion: ", "1.5\n")
    talk(screen, r"where \(one of blue, green; default blue\): ", "red\n", "it must be one of blue, green\n", "\n")
    talk(screen, r"note \(optional\): ", "\n")
    assert screen.close() == 0
    assert place.text("got") == "1.5|blue|unset\n"
    screen = at_terminal(place, "run", "--input", "version=2")
    assert screen.close() == 0
    assert "where" not in screen.seen, "nothing is asked where nothing is missing"


@pytest.fixture
def texts(tmp_path: Path) -> Compiled:
    """A program with a text that is needed, and a string."""
    variables = (Variable("B", "body"), Variable("T", "title"))
    inputs = (Input("body", "text"), Input("title", "string", required=False))
    made = compiled_program(node("1", sh('printf "%s|%s" "$B" "$T" > got'), variables=variables),
                   slots=("body", "title"), inputs=inputs)  # fmt: skip
    return Compiled(tmp_path, made)


@pytest.mark.parametrize(
    ("typed", "body"),
    [
        ("one\ntwo\n\n", "one\ntwo"),
        ("one\n\n", "one"),
        ("# Title\n\nA paragraph.\n\n\nAnother; $(x)\n\n", "# Title\n\nA paragraph.\n\n\nAnother; $(x)"),
        ("one\ntwo\n\x04", "one\ntwo"),
        ("\nindeed\n\n", "\nindeed"),
        ("\n", ""),
    ],
)
def test_a_text_takes_all_lines_that_are_pasted(typed: str, body: str, texts: Compiled) -> None:
    screen = at_terminal(texts)
    talk(screen, r"body \(several lines; end with an empty line\): ", typed, r"title \(optional\): ", "T\n")
    assert screen.close() == 0
    assert texts.text("got") == f"{body}|T"


def test_an_empty_line_typed_after_a_while_ends_a_text_and_only_a_text_may_be_empty(texts: Compiled) -> None:
    screen = at_terminal(texts)
    talk(screen, "empty line", "one\n", "one", "two\n", "two", "\n", "title", "\n")
    assert screen.close() == 0
    assert texts.text("got") == "one\ntwo|"
    assert texts.run("run", "--input", "body=").code == 0
    assert texts.text("got") == "|"
    assert "input body: a value is required" in texts.run("run").last


@pytest.mark.parametrize("key", ["", "\x03"])
def test_lines_that_are_pasted_never_reach_the_shell(key: str, texts: Compiled, place: Compiled) -> None:
    """A string takes one line: what is pasted after it is nobody's, however the program ends."""
    after = f'{place.script} run; read -t 1 rest; echo "rest=[$rest]"'
    screen = Screen(["bash", "-c", after], place.path, place.environment())
    screen.expect("\nversion: ")
    screen.type("1.5\ngreen\nnote\ntouch canary\ntouch canary\n" if not key else f"x\ny\n{key}touch canary\n")
    screen.expect(r"rest=\[\]")
    screen.close()
    assert not (place.path / "canary").exists()


@pytest.mark.parametrize(("key", "code", "last"), [("\x04", 2, "version"), ("\x03", 130, "INTERRUPTED")])
def test_who_gives_no_input_begins_no_run(key: str, code: int, last: str, place: Compiled) -> None:
    screen = Screen([str(place.script), "run"], place.path, place.environment())
    talk(screen, "release\nversion: ", key)
    screen.expect(f"{last}[^\n]*\n")
    assert screen.close() == code
    assert not place.journal.exists()


def test_an_at_sign_names_a_file_and_two_are_a_text(place: Compiled) -> None:
    (place.path / "note.txt").write_text("of a file\n", encoding="utf-8")
    refused = place.run("run", "--input", "version=2", "--input", "note=@types/node")
    assert refused.code == 2
    assert "input note: the file types/node does not exist" in refused.last
    assert refused.last.endswith("--input note=@@types/node")
    for given, got in {"@note.txt": "of a file", "@@note.txt": "@note.txt", "@@": "@", "@@a/b": "@a/b"}.items():
        done = place.run("run", "--input", "version=2", "--input", f"note={given}")
        assert place.text("got").rstrip("\n") == f"2|blue|{got}", done.err


def test_a_file_of_inputs_may_be_lines(place: Compiled) -> None:
    for lines, got in (
        ("version=1.5\n", "1.5|blue|unset"),
        ("# of today\n\nversion=1.5\r\nwhere=green", "1.5|green|unset"),
        ("version=2\nnote=it's  -x: 'fine' # no comment\n", "2|blue|it's  -x: 'fine' # no comment"),
        ("version=2\nnote=a=b<<c $(touch x)\n", "2|blue|a=b<<c $(touch x)"),
        ("version=2\nnote=\n", "2|blue|"),
        ("note<<END\nof one line\nEND\nversion=2\n", "2|blue|of one line"),
        ('version="2"\nnote="Ann Lee"\n', "2|blue|Ann Lee"),
        ("version=2\nnote='say \"hi\"'\n", '2|blue|say "hi"'),
        ('version=2\nnote="a" and "b"\n', '2|blue|"a" and "b"'),
        ('version=2\nnote="\n', '2|blue|"'),
        ("version=2\nnote=it's\n", "2|blue|it's"),
        ('version=2\nnote=""\n', "2|blue|"),
        ('version=2\nnote<<END\n"kept"\nEND\n', '2|blue|"kept"'),
    ):
        (place.path / "inputs.txt").write_text(lines, encoding="utf-8", newline="")
        done = place.run("run", "--inputs", "inputs.txt")
        assert place.text("got").rstrip("\n") == got, done.err


def test_any_other_line_is_refused_by_its_number(place: Compiled) -> None:
    neither = "expected NAME=VALUE or NAME<<WORD, and the file is not a JSON object"
    for lines, message in (
        ("version: 1\n", f": line 1: {neither}"),
        ("version=1\n\n  note 2\n", f": line 3: {neither}"),
        ("version=1\n- note\n", f": line 2: {neither}"),
        ("version=1\nnote<<END\nx\n", ": line 2: the closing line END is missing, and the file is not a JSON object"),
        ("version=1\nversion=2\n", ":2: version is given twice"),
        (f"version{' ' * 200_000}: 1\n", ": line 1: expected NAME"),
    ):
        (place.path / "inputs.txt").write_text(lines, encoding="utf-8")
        done = place.run("run", "--inputs", "inputs.txt")
        assert done.code == 2
        assert done.last.startswith(f"rdc: error: inputs.txt{message}"), done.last
    assert not place.journal.exists()


THREE = program(
    {"1": ask("2", "2"), "a b": ask("3", "3"), "2": ask("a b", "a b"), "3": ask("COMPLETE", question="yes/no")}
)


def answers(place: Place, text: str, name: str = "answers") -> tuple[str, str]:
    (place.path / name).write_text(text, encoding="utf-8")
    return ("--answers", name)


def test_answers_are_given(tmp_path: Path) -> None:
    place = Place(tmp_path, THREE)
    for text, walk in (
        ("pass\nFAIL\nYes\nno\n", ["1 pass", "2 fail", "a b pass", "3 fail"]),
        ("\ufeff# first\n\n  pass  # good\n2 fail\r\na b no\nyes", ["1 pass", "2 fail", "a b fail", "3 pass"]),
        ("3 no\nfail\npass\n1 pass\nfail\n", ["1 pass", "2 fail", "a b pass", "3 fail"]),
    ):
        result = place.run("run", *answers(place, text))
        assert place.walk() == walk, result.err
        assert result.code == (0 if walk[-1].endswith("pass") else 1)


def test_bad_lines_are_errors_up_front(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"sh": shell("echo >> log", "1"), "1": ask("COMPLETE")}))
    for text, bad in (
        ("pass\nperhaps\n", [2]), ("4 pass\n", [1]), ("pass\n\nsh pass\n", [3]), ("1 pass fail\n", [1]), ("1\n", [1]),
        ("perhaps\npass\n9 pass\n1 never\n", [1, 3, 4]),
    ):  # fmt: skip
        result = place.run("run", *answers(place, text))
        assert result.code == 2
        assert [line.split(": ")[-2] for line in result.err.splitlines()] == [f"answers:{line}" for line in bad]
        assert result.last.startswith(f"rdc: error: answers:{bad[-1]}: ")
    assert (place.journal.exists(), place.text("log")) == (False, "")


def test_used_lines_stay_used(tmp_path: Path) -> None:
    place = Place(tmp_path, THREE)
    first = answers(place, "pass\nfail\n")
    assert place.run("run", *first).code == 75
    assert place.run("resume", *first).code == 75
    assert place.walk() == ["1 pass", "2 fail"]
    copy = answers(place, "pass\nfail\n", "copy")
    again = place.run("resume", *copy)
    assert again.code == 75, "the content counts, not the name"
    assert "used before" not in again.err
    result = place.run("resume", *answers(place, "fail\nyes\n", "other"))
    assert result.code == 0
    assert result.err.count("other has changed since the last call") == 1
    assert place.walk() == ["1 pass", "2 fail", "a b fail", "3 pass"]


def test_each_line_of_a_step_once_and_in_order_and_others_are_left(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2", "1"), "2": ask("COMPLETE")}))
    assert place.run("run", *answers(place, "1 fail\n1 fail\n1 pass\n")).code == 75
    assert place.walk() == ["1 fail", "1 fail", "1 pass"]
    assert codes(place, "answer 2 pass", "resume") == [0, 0]
    assert place.run("run", *answers(place, "2 pass\n")).code == 75
    assert place.walk() == [], "the line of another step is left"
    place.write(program({"1": shell("true", "COMPLETE")}))
    assert place.run("reset").code == 0
    assert place.run("run", *answers(place, "pass\n")).code == 0, "nothing is asked"
