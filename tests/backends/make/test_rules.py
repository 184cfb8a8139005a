"""A Makefile of a document with rules calls the program, which holds the run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Task
from runtime_shim.engine.journal import Record, read_journal
from tests.support.backend_programs import Made, ask, node, program, shell, when
from tests.support.process import Result
from tests.support.rules import try_at_random

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


class Driven:
    """A Makefile with the subcommands of the Python target."""

    def __init__(self, folder: Path, made: Program) -> None:
        self.path, self._made = folder, Made(folder, made)

    def run(self, *words: str) -> Result:
        """Call a target; the last line has the exit code, because make has its own."""
        verb, *rest = words
        given = dict(zip({"goto": ("STEP",), "answer": ("STEP", "REPLY")}.get(verb, ()), rest, strict=False))
        rest = rest[len(given) :] if "--rerun-interrupted" not in rest else ["--rerun", "1"]
        for option, value in zip(rest[::2], rest[1::2], strict=True):
            name = option.strip("-").upper()
            given[name] = f"{given[name]}\n{value}" if name in given else value
        done = self._made.make(verb, *(f"{name}={value}" for name, value in given.items()))
        lines = [line for line in done.stdout.decode().splitlines() if line.startswith("rdc: ")] or [""]
        codes = {"COMPLETE": 0, "STOP": 1, "WAITING": 75, "error:": 2}
        word = re.match(r"rdc: (\S+)", lines[-1])
        killed = "Killed" in done.stderr.decode() or "Error 137" in done.stderr.decode()
        code = -9 if killed else codes.get(word[1] if word else "", 0)
        return Result(code, "", "\n".join(lines) + "\n")

    def records(self) -> list[Record]:
        """Return the records of the run."""
        return read_journal(next((self.path / ".rdc").glob("*/journal")))[0]


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(n, marks=pytest.mark.soak) for n in range(2, 100))])
def test_a_run_of_make_is_held_as_the_trace_says(tmp_path: Path, seed: int) -> None:
    try_at_random(seed, lambda made: Driven(tmp_path, made), 8)
