"""Inputs of Makefiles as flat YAML and at a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.ir.program import Input, Program, Slot
from tests.backends.makefiles import Place
from tests.backends.programs import Made, node, program, ref, shell, words
from tests.backends.test_make_terminal import at_terminal


def two(*, both: bool = False) -> Program:
    """A program that says the values of its two inputs."""
    return program(
        node("1", shell("true")),
        message=words("<", ref("a"), "|", ref("b"), ">"),
        slots=(Slot("a"), Slot("b")),
        inputs=(Input("a", type="text"), Input("b", type="text", description="what it is", required=both)),
    )


FINE = {
    "a: plain\nb: two words # comment\n": "plain|two words",
    "# first\n---\na:   'it''s # no comment'  # comment\n": "it's # no comment|",
    'a: x\nb: "q \\" \\\\ \\t/\\/"\r\n': 'x|q " \\ //',
    "a: 3\nb: -1.5\n": "3|-1.5",
    "a: ''\nb: \"\"": "|",
    "b: $(touch canary) `touch canary` ${x} %s\na: a=b<<c": "a=b<<c|$(touch canary) `touch canary` ${x} %s",
    "a: http://x:80/y#z\nb: é\n": "http://x:80/y#z|é",
}
WRONG = {
    "a: 1\n\n  b: 2\n": "line 3: expected NAME: value",
    "a: 1\nb:\n  - x\n": "line 2: expected NAME: value",
    "a: [1]\nb: 2\n": "line 1: put the value in quotes",
    "a: {x: 1}\n": "line 1: put the value in quotes",
    "a: |\n  x\n": "line 1: put the value in quotes",
    "a: *x\n": "line 1: put the value in quotes",
    "a: x: y\n": "line 1: put the value in quotes",
    "a: ~\n": "line 1: put the value in quotes",
    "a: # nothing\n": "line 1: put the value in quotes",
    "a: 1\nb=2\n": "line 2: expected NAME: value",
    "a: 'x\nb: 2\n": "line 1: the closing quote is missing",
    'a: "x\\q"\n': "line 1: unknown escape",
    'a: "x" y\n': "line 1: expected nothing behind the closing quote",
    "a: 1\na: 2\n": "line 2: a is given twice",
    "a: 1\n\nc: 2\n": "line 3: this name is not declared",
}


@pytest.mark.parametrize("written", FINE)
def test_flat_yaml_is_read(written: str, tmp_path: Path) -> None:
    made = Made(tmp_path, two())
    (tmp_path / "given").write_bytes(written.encode())
    assert made.end("INPUTS=given") == f"rdc: COMPLETE <{FINE[written]}>"
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("written", WRONG)
def test_what_is_no_flat_yaml_is_refused_with_its_line(written: str, tmp_path: Path) -> None:
    made = Made(tmp_path, two())
    (tmp_path / "given").write_bytes(written.encode())
    said = made.end("INPUTS=given")
    assert said.startswith("rdc: error: given: ")
    assert WRONG[written] in said
    assert not (made.state / "journal").exists()


def test_flat_yaml_is_read_by_awks_of_all_kinds(kind: dict[str, str], tmp_path: Path) -> None:
    made = Made(tmp_path, two())
    for written, found in FINE.items():
        (tmp_path / "given").write_bytes(written.encode())
        assert made.end(kind["shell"], "INPUTS=given", PATH=kind["path"]) == f"rdc: COMPLETE <{found}>".replace(
            "\t", " "
        )


def test_a_missing_input_is_asked_for_at_a_terminal(tmp_path: Path) -> None:
    made = Made(tmp_path, two(both=True))
    place = Place.__new__(Place)
    place.folder = tmp_path
    last, shown = at_terminal(place, "it's $(x)\nsecond\n")
    assert last == "rdc: COMPLETE <it's $(x)|second>"
    assert "b (what it is; text): " in shown
    assert made.end() == "rdc: error: the input a is missing: make a=VALUE"


@pytest.mark.xfail(strict=True, reason='closed by "Make on the engine"')
def test_a_text_typed_at_a_terminal_takes_all_lines_that_are_pasted(tmp_path: Path) -> None:
    Made(tmp_path, two(both=True))
    place = Place.__new__(Place)
    place.folder = tmp_path
    last, _ = at_terminal(place, "one\ntwo\n\nsecond\n\n")
    assert last == "rdc: COMPLETE <one\ntwo|second>"
