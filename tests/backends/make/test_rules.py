"""A Makefile of a document with rules calls the program, which holds the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Task
from tests.support.backend_programs import Made, ask, node, program, shell, when

pytestmark = pytest.mark.process

RULE = Rule("approved", "2 PASS before 3", (Event("3"),), (Event("2", "pass"),), needs="2 PASS")


def deploys() -> Program:
    """A check, a question, and a deployment, which a native Makefile could do without the rule."""
    steps: list[tuple[str, Task]] = [("1", shell("true")), ("2", ask("pass_fail")), ("3", shell("echo >> deployed"))]
    targets = ["2", "3", "done"]
    nodes = [
        node(name, task, when("pass", after), when("fail", "stop"))
        for (name, task), after in zip(steps, targets, strict=True)
    ]
    return program(*nodes, rules=(RULE,))


def test_rules_make_the_makefile_call_the_program(tmp_path: Path) -> None:
    emission = MakeBackend().emit(deploys(), {})
    assert emission.reason is not None
    assert "the document has rules" in emission.reason.clause
    plain = MakeBackend().emit(deploys(), {"form": "plain"})
    assert plain.text is None
    assert "the document has rules" in plain.diagnostics[0].message


def test_make_refuses_a_jump_and_takes_an_override(tmp_path: Path) -> None:
    made = Made(tmp_path, deploys())
    assert made.end("run").startswith("rdc: WAITING 2")
    refused = made.make("goto", "STEP=3")
    assert b'3 can\'t start: rule approved needs "2 PASS" first' in refused.stdout, refused
    assert refused.returncode == 2
    assert b"needs NOTE=TEXT" in made.make("goto", "STEP=3", "OVERRIDE=approved").stdout
    moved = made.make("goto", "STEP=3", "OVERRIDE=approved", "NOTE=the database is down")
    assert moved.returncode == 0, moved
    assert made.end("resume").startswith("rdc: COMPLETE")
    assert made.read("deployed") == b"\n"
    assert b"overridden for the start of 3" in made.make("status").stdout


def test_a_step_of_make_cannot_change_the_order(tmp_path: Path) -> None:
    made = Made(tmp_path, deploys())
    made.make("run")
    assert made.make("step-3").returncode != 0
    assert made.read("deployed") == b""
