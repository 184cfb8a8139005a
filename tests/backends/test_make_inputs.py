"""Inputs of Makefiles as flat YAML and at a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import time
from pathlib import Path

import pytest

from compiler.ir.program import Input, Program, Slot
from tests.backends.makefiles import PATIENCE, environment
from tests.backends.programs import Made, node, program, ref, shell, words


def two(*, both: bool = False) -> Program:
    """A program that says the values of its two inputs."""
    return program(
        node("1", shell("true")),
        message=words("<", ref("a"), "|", ref("b"), ">"),
        slots=(Slot("a"), Slot("b")),
        inputs=(Input("a", type="text"), Input("b", type="text", description="what it is", required=both)),
    )


FINE = {
    "---\n# a comment\na: plain\nb: two words\n": "plain|two words",
    "a:   'it''s # no comment'\n": "it's # no comment|",
    'a: x\nb: "q \\" \\\\ \\t/\\/"\r\n': 'x|q " \\ //',
    "a: 3\nb: -1.5\n": "3|-1.5",
    "a: ''\nb: \"\"": "|",
    "b: $(touch canary) `touch canary` ${x} %s\na: a=b<<c": "a=b<<c|$(touch canary) `touch canary` ${x} %s",
    "a: http://x:80/y#z\nb: é\n": "http://x:80/y#z|é",
    '{"a": "two\\nlines", "b": 1.5}': "two lines|1.5",
}
WRONG = {
    **dict.fromkeys(
        ["a: [1]\nb: 2\n", "a: {x: 1}\n", "a: |\n  x\n", "a: *x\n", "a: x: y\n", "a: ~\n", "a: # nothing\n", "a: 'x\n",
         'a: "x\\q"\n', 'a: "x" y\n', "a: 'x' # comment\n"], 1),
    **dict.fromkeys(["a: 1\nb:\n  - x\n", "a: 1\nb=2\n", "a: x\nb: two words # comment\n"], 2),
    "a: 1\n\n  b: 2\n": 3,
}  # fmt: skip


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
    told = f"rdc: error: given:{WRONG[written]}: expected NAME: value, or the file as a JSON object"
    assert made.end("INPUTS=given") == told
    assert not (made.state / "journal").exists()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("a: 1\na: 2\n", "given:2: a is given twice"),
        ("a: 1\nb: 1\nc: 2\n", "c: there is no such input; known: a, b"),
        ("a: 1\n", "input b: a value is needed; give it by b=VALUE"),
    ],
)
def test_a_value_that_is_missing_or_has_no_input_is_named(written: str, told: str, tmp_path: Path) -> None:
    made = Made(tmp_path, two(both=True))
    (tmp_path / "given").write_text(written, encoding="utf-8")
    assert made.end("INPUTS=given") == f"rdc: error: {told}"
    assert not (made.state / "journal").exists()


def typed(folder: Path, *pieces: tuple[str, str]) -> tuple[str, str]:
    """Type each text once its prompt is shown; the last line on standard output, and all that the terminal showed."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        ["make"], cwd=folder, env=environment({}), stdin=slave, stdout=subprocess.PIPE, stderr=slave, text=True
    )
    os.close(slave)
    shown = ""
    for prompt, text in pieces:
        while prompt not in shown.rpartition("\0")[2]:
            shown += os.read(master, 4096).decode()
        shown += "\0"
        time.sleep(0.3)  # whoever types is slower than a paste
        os.write(master, text.encode())
    said, _ = process.communicate(timeout=PATIENCE)
    os.close(master)
    return said.splitlines()[-1], shown


def test_a_missing_input_is_asked_for_at_a_terminal(tmp_path: Path) -> None:
    made = Made(tmp_path, two(both=True))
    last, shown = typed(
        tmp_path, ("a (several lines", "it's $(x)\n"), ("", "\n"), ("b (several", "second\n"), ("", "\n")
    )
    assert last == "rdc: COMPLETE <it's $(x)|second>"
    assert "b: what it is" in shown
    assert "input b: a value is needed; give it by b=VALUE" in made.end("a=x")


def test_a_text_typed_at_a_terminal_takes_all_lines_that_are_pasted(tmp_path: Path) -> None:
    Made(tmp_path, two(both=True))
    last, _ = typed(tmp_path, ("a (several", "one\n\ntwo\n"), ("", "\n"), ("b (several", "second\n"), ("", "\n"))
    assert last == "rdc: COMPLETE <one two|second>"
