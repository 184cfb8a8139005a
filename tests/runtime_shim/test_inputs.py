"""Inputs that are asked for at a terminal, and files of inputs (E1, I8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.process import Screen
from tests.support.runtime_programs import Compiled, Input, Variable, node, program, sh

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
    made = program(node("1", command, variables=variables), slots=("version", "where", "note"), inputs=INPUTS)
    return Compiled(tmp_path, made)


def test_missing_inputs_are_asked_for_at_a_terminal(place: Compiled) -> None:
    screen = Screen([str(place.script), "run"], place.path, place.environment())
    assert "\x1b[31m" not in screen.expect("version: What to [^\n]*release\nversion: ")
    screen.type("one\n")
    screen.expect(r"it does not match \[0-9\.\]\+\nversion: ")
    screen.type("1.5\n")
    screen.expect(r"where \(one of blue, green; default blue\): ")
    screen.type("red\n")
    screen.expect("it must be one of blue, green\n")
    screen.type("\n")
    screen.expect(r"note \(optional\): ")
    screen.type("\n")
    assert screen.close() == 0
    assert place.text("got") == "1.5|blue|unset\n"


@pytest.fixture
def texts(tmp_path: Path) -> Compiled:
    """A program with a text that is needed, and a string."""
    variables = (Variable("B", "body"), Variable("T", "title"))
    inputs = (Input("body", "text"), Input("title", "string", required=False))
    made = program(node("1", sh('printf "%s|%s" "$B" "$T" > got'), variables=variables),
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
    screen = Screen([str(texts.script), "run"], texts.path, texts.environment())
    screen.expect(r"body \(several lines; end with an empty line\): ")
    screen.type(typed)
    screen.expect(r"title \(optional\): ")
    screen.type("T\n")
    assert screen.close() == 0
    assert texts.text("got") == f"{body}|T"


def test_an_empty_line_typed_after_a_while_ends_a_text(texts: Compiled) -> None:
    screen = Screen([str(texts.script), "run"], texts.path, texts.environment())
    screen.expect("empty line")
    for line in ("one\n", "two\n", "\n"):
        screen.type(line)
        screen.expect(line.strip() or "title")
    screen.type("\n")
    assert screen.close() == 0
    assert texts.text("got") == "one\ntwo|"


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


def test_nothing_is_asked_where_nothing_is_missing(place: Compiled) -> None:
    screen = Screen([str(place.script), "run", "--input", "version=2"], place.path, place.environment())
    assert screen.close() == 0
    assert "where" not in screen.seen


@pytest.mark.parametrize(("key", "code", "last"), [("\x04", 2, "version"), ("\x03", 130, "INTERRUPTED")])
def test_who_gives_no_input_begins_no_run(key: str, code: int, last: str, place: Compiled) -> None:
    screen = Screen([str(place.script), "run"], place.path, place.environment())
    screen.expect("release\nversion: ")
    screen.type(key)
    screen.expect(f"{last}[^\n]*\n")
    assert screen.close() == code
    assert not place.journal.exists()


def test_without_a_terminal_nothing_is_asked(place: Compiled) -> None:
    assert "input version: a value is required" in place.run("run").last


@pytest.mark.parametrize(("given", "got"), [("@note.txt", "of a file"), ("@@note.txt", "@note.txt"), ("@@", "@")])
def test_an_at_sign_names_a_file_and_two_are_a_text(given: str, got: str, place: Compiled) -> None:
    (place.path / "note.txt").write_text("of a file\n", encoding="utf-8")
    done = place.run("run", "--input", "version=2", "--input", f"note={given}")
    assert place.text("got").rstrip("\n") == f"2|blue|{got}", done.err


def test_an_at_sign_before_no_file_names_the_input_and_the_escape(place: Compiled) -> None:
    refused = place.run("run", "--input", "version=2", "--input", "note=@types/node")
    assert refused.code == 2
    assert "input note: the file types/node does not exist" in refused.last
    assert refused.last.endswith("--input note=@@types/node")
    assert place.run("run", "--input", "version=2", "--input", "note=@@types/node").code == 0
    assert place.text("got").rstrip("\n") == "2|blue|@types/node"


@pytest.mark.parametrize(
    ("lines", "got"),
    [
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
    ],
)
def test_a_file_of_inputs_may_be_lines(lines: str, got: str, place: Compiled) -> None:
    (place.path / "inputs.txt").write_text(lines, encoding="utf-8", newline="")
    done = place.run("run", "--inputs", "inputs.txt")
    assert place.text("got").rstrip("\n") == got, done.err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("version: 1\n", ": line 1: expected NAME=VALUE or NAME<<WORD, and the file is not a JSON object"),
        ("version=1\n\n  note 2\n", ": line 3: expected NAME=VALUE or NAME<<WORD, and the file is not a JSON object"),
        ("version=1\n- note\n", ": line 2: expected NAME=VALUE or NAME<<WORD, and the file is not a JSON object"),
        ("version=1\nnote<<END\nx\n", ": line 2: the closing line END is missing, and the file is not a JSON object"),
        ("version=1\nversion=2\n", ":2: version is given twice"),
        pytest.param(f"version{' ' * 200_000}: 1\n", ": line 1: expected NAME", id="many spaces"),
    ],
)
def test_any_other_line_is_refused_by_its_number(lines: str, message: str, place: Compiled) -> None:
    (place.path / "inputs.txt").write_text(lines, encoding="utf-8")
    done = place.run("run", "--inputs", "inputs.txt")
    assert done.code == 2
    assert done.last.startswith(f"rdc: error: inputs.txt{message}"), done.last
    assert not place.journal.exists()


def test_only_a_text_may_be_empty(texts: Compiled, tmp_path: Path) -> None:
    assert texts.run("run", "--input", "body=").code == 0
    assert texts.text("got") == "|"
    assert "input body: a value is required" in texts.run("run").last
    (tmp_path / "number").mkdir()
    number = Compiled(tmp_path / "number", program(node("1", sh("true")), slots=("n",), inputs=(Input("n", "number"),)))
    assert "it is not a decimal number" in number.run("run", "--input", "n=").last
