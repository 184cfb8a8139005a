"""Inputs of Makefiles at a terminal, and variables that are nearly an input."""

from __future__ import annotations

import os
import pty
import subprocess
import time
from pathlib import Path

import pytest

from compiler.ir.program import Input, Program, Slot
from tests.support.backend_programs import Made, node, program, ref, shell, words
from tests.support.makefiles import PATIENCE, Place, environment

pytestmark = pytest.mark.process


def two(*, both: bool = False) -> Program:
    """A program that shows the values of its two inputs."""
    return program(
        node("1", shell("true")),
        message=words("<", ref("a"), "|", ref("b"), ">"),
        slots=(Slot("a"), Slot("b")),
        inputs=(Input("a", type="text"), Input("b", type="text", description="what it is", required=both)),
    )


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
        time.sleep(0.15)  # whoever types is slower than a paste
        os.write(master, text.encode())
    printed, _ = process.communicate(timeout=PATIENCE)
    os.close(master)
    return printed.splitlines()[-1], shown


def test_a_missing_input_is_asked_for_at_a_terminal(tmp_path: Path) -> None:
    made = Made(tmp_path, two(both=True))
    last, shown = typed(
        tmp_path, ("a (several lines", "it's $(x)\n"), ("", "\n"), ("b (several", "second\n"), ("", "\n")
    )
    assert last == "rdc: COMPLETE <it's $(x)|second>"
    assert "b: what it is" in shown
    assert "input b: a value is required; set it with b=VALUE" in made.end("a=x")


REGION = """---
rdc:
  inputs:
    REGION: {default: eu}
    stage: {default: test}
---
# Shows

## 1. Show

```sh
printf "%s\\n" "$REGION $stage $TAG" > seen
```
"""


def test_make_warns_of_a_variable_that_is_nearly_an_input(tmp_path: Path) -> None:
    place = Place(tmp_path, REGION)
    meant = {"REGOIN": "REGION", "REGIO": "REGION", "region": "REGION", "REGIONS": "REGION", "STAGE": "stage"}
    meant |= {"satge": "stage"}
    done = place.make(*(f"{name}=$(shell touch canary)" for name in meant))
    for name, right in meant.items():
        assert f"rdc: warning: {name} is not an input; did you mean {right}?\n" in done.stderr
    assert done.stderr.count("warning") == len(meant)
    assert place.lines("seen") == ["eu test "]
    assert not (tmp_path / "canary").exists()


def test_make_does_not_warn_of_other_variables(tmp_path: Path) -> None:
    place = Place(tmp_path, REGION)
    (tmp_path / "x").touch()
    assert "warning" not in place.make("TAG=1", "REGION=us", "stage=live", "V=1", "RE=1").stderr
    assert "warning" not in place.make("ANSWERS=x").stderr
    assert "warning" not in place.make(REGOIN="us").stderr
    assert "warning" not in place.make("REGION=us", "REGIONS=all").stderr
