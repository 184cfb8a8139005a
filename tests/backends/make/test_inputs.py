"""Inputs of Makefiles in files and at a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import time
from pathlib import Path

import pytest

from compiler.ir.program import Input, Program, Slot
from tests.support.backend_programs import Made, node, program, ref, shell, words
from tests.support.makefiles import PATIENCE, environment


def two(*, both: bool = False) -> Program:
    """A program that says the values of its two inputs."""
    return program(
        node("1", shell("true")),
        message=words("<", ref("a"), "|", ref("b"), ">"),
        slots=(Slot("a"), Slot("b")),
        inputs=(Input("a", type="text"), Input("b", type="text", description="what it is", required=both)),
    )


FINE = {
    "b=$(touch canary) `touch canary` ${x} %s\na=a=b<<c": "a=b<<c|$(touch canary) `touch canary` ${x} %s",
    '{"a": "two\\nlines", "b": 1.5}': "two lines|1.5",
    "a=$(touch canary) 'x'\r\nb='2'\n": "$(touch canary) 'x'|2",
    "b=\na<<END\nfirst: 1\n\n# two\nEND\n": "first: 1 # two|",
}


@pytest.mark.parametrize("written", FINE)
def test_a_file_of_lines_or_json_is_read(written: str, tmp_path: Path) -> None:
    made = Made(tmp_path, two())
    (tmp_path / "given").write_bytes(written.encode())
    assert made.end("INPUTS=given") == f"rdc: COMPLETE <{FINE[written]}>"
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("a=1\nb<<END\nx\n", "given: line 2: the closing line END is missing, and the file is not a JSON object"),
        ("a=1\n", "input b: a value is required; set it with b=VALUE"),
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
    assert "input b: a value is required; set it with b=VALUE" in made.end("a=x")
