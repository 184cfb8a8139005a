"""The published Rundown documents, read where they are: accepted or rejected, and run as Python programs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from compiler.driver import Settings, compile_file
from compiler.ir.program import Ask, End, Program, Shell, Verdict
from compiler.ir.semantics import Machine, Outcome
from tests.conftest import CONFORMANCE, NO_CONFORMANCE
from tests.rdc.cli_support import call

# A walk that is not at its end by then goes on for ever: nothing in these documents counts beyond three.
LIMIT = 60

# `rd echo [--result pass|fail]… [text]` prints its text; the number of the attempt says which of the results
# is its own, the last one repeats, and none is pass.
STAND_IN = """#!/bin/sh
[ "$1" = echo ] || exit 64
shift
text= result=pass number=0
while [ $# -gt 0 ]; do
    case $1 in
    --result)
        number=$((number + 1))
        [ "$number" -gt "$RDC_ATTEMPT" ] || result=$2
        shift ;;
    *) text="$text$1 " ;;
    esac
    shift
done
printf '%s\\n' "$text"
[ "$result" = pass ]
"""

Step = tuple[str, int, list[int], str]


def documents(folder: str) -> list[ParameterSet]:
    """The documents of a folder; where there is none, one that is skipped."""
    if not CONFORMANCE.is_dir():
        return [pytest.param(Path(), marks=pytest.mark.skip(NO_CONFORMANCE), id=folder)]
    found = sorted((CONFORMANCE / "rundown" / folder).glob("*.runbook.md"))
    return [pytest.param(path, id=path.name.removesuffix(".runbook.md")) for path in found]


def test_the_cases_are_there(conformance: Path) -> None:
    for folder in ("valid", "invalid"):
        assert len(list((conformance / "rundown" / folder).glob("*.runbook.md"))) >= 10


@pytest.mark.parametrize("document", documents("valid"))
def test_valid_document_is_accepted(document: Path, tmp_path: Path) -> None:
    result = call("check", "--no-link", "--format", "json", str(document), cwd=tmp_path)
    assert result.code == 0, result.out
    assert json.loads(result.out)["summary"]["errors"] == 0


@pytest.mark.parametrize("document", documents("invalid"))
def test_invalid_document_is_rejected(document: Path, tmp_path: Path) -> None:
    result = call("check", "--no-link", "--format", "json", str(document), cwd=tmp_path)
    assert result.code == 1, result.out
    found = json.loads(result.out)["diagnostics"]
    errors = [item for item in found if item["severity"] == "error"]
    assert errors
    assert all(item["line"] for item in errors if item["code"] != "RD101"), "an error says where it is"


@pytest.mark.parametrize("answer", ["pass", "fail"])
@pytest.mark.parametrize("document", documents("valid"))
def test_valid_document_walks_as_its_semantics_say(
    document: Path, answer: str, tmp_path: Path, to_python: Callable[[Program], str]
) -> None:
    program = compile_file(str(document), Settings(link=False)).program
    assert program
    script = tmp_path / "program.py"
    script.write_text(to_python(program), encoding="utf-8")
    steps, end = walk_of(program, answer)
    if end is None:
        compile(script.read_bytes(), script, "exec")
        return
    (tmp_path / "answers").write_text(f"{answer}\n" * len(steps), encoding="utf-8")
    assert run(script) == (steps, end, 0 if end.startswith("complete") else 1)


def test_most_walks_end(conformance: Path) -> None:
    """What does not end is only compiled: a mistake in the bound could make that all of them."""
    ends = [walk_of(program, "pass")[1] for program in programs()]
    assert sum(end is not None for end in ends) > len(ends) * 3 // 4


def programs() -> list[Program]:
    paths = sorted((CONFORMANCE / "rundown" / "valid").glob("*.runbook.md"))
    found = [compile_file(str(path), Settings(link=False)).program for path in paths]
    return [program for program in found if program]


def walk_of(program: Program, answer: str) -> tuple[list[Step], str | None]:
    """The walk by the semantics, commands ending as the stand-in does; the end is None if it was cut off."""
    machine = Machine(program)
    state, steps = machine.start(), list[Step]()
    while len(steps) < LIMIT:
        node, attempt = machine.nodes[state.node], machine.attempt(state)
        if isinstance(node.task, End):
            return steps, f"{node.task.result} {machine.text(state, node.task.message)}"
        assert isinstance(node.task, Shell | Ask)
        passed = result_of(node.task.command, attempt) if isinstance(node.task, Shell) else answer == "pass"
        instances = [state.counters[variable.register] for variable in node.variables]
        verdict = Verdict.PASS if passed else Verdict.FAIL
        steps.append((node.id, attempt, instances, verdict.value))
        state = machine.advance(state, Outcome(verdict)).state
    return steps, None


def result_of(command: str, attempt: int) -> bool:
    """The result of a command: that of its last line, which the shell cannot find if it is not `rd echo`."""
    words = shlex.split(command.strip().splitlines()[-1])
    if words[:2] != ["rd", "echo"]:
        return False
    results = [value for name, value in pairwise(words) if name == "--result"] or ["pass"]
    return results[min(attempt, len(results)) - 1] == "pass"


def run(script: Path) -> tuple[list[Step], str, int]:
    """The walk of the program as a real process, its end, and its exit code."""
    folder = script.parent
    (folder / "bin").mkdir()
    (folder / "bin" / "rd").write_text(STAND_IN, encoding="utf-8")
    (folder / "bin" / "rd").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RDC_")}
    done = subprocess.run(
        [sys.executable, script.name, "run", "--answers", "answers", "--events", "events"],
        cwd=folder,
        env=environment | {"PATH": f"{folder / 'bin'}:{environment['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    events = [json.loads(line) for line in (folder / "events").read_text(encoding="utf-8").splitlines()]
    steps = [
        (event["unit"], event["attempt"], list(event["instances"].values()), event["outcome"])
        for event in events
        if event["event"] == "unit_finished"
    ]
    end = events[-1]
    assert end["event"] == "run_finished", done.stderr.decode()
    return steps, f"{end['result']} {end['message']}", done.returncode
