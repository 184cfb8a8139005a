"""The published Rundown documents, read where they are: accepted or rejected, and run on all targets that run."""

import json
import os
import shlex
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from compiler.driver import Settings, compile_file
from compiler.ir import paths
from compiler.ir.paths import walk
from compiler.ir.program import Node, Program
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.tasks import Shell, Verdict
from rdc.testing import TARGETS as RUNNING
from rdc.testing.result import retrace
from rdc.testing.run import Setting
from tests.conftest import CONFORMANCE, NO_CONFORMANCE
from tests.support.cli import call

pytestmark = pytest.mark.tool

# A path that is not at its end by then goes on forever: nothing in these documents counts beyond three.
LIMIT = 60

# `rd echo [--result pass|fail]… [text]` prints its text; the number of the attempt says which of the results
# is its own, the last one repeats, and none is pass.
STUB = """#!/bin/sh
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


def documents(folder: str) -> list[ParameterSet]:
    """The documents of a folder; where there is none, one that is skipped."""
    if not CONFORMANCE.is_dir():
        return [pytest.param(Path(), marks=pytest.mark.skip(NO_CONFORMANCE), id=folder)]
    found = sorted((CONFORMANCE / "rundown" / folder).glob("*.runbook.md"))
    return [pytest.param(path, id=path.name.removesuffix(".runbook.md")) for path in found]


@pytest.mark.parametrize("document", [*documents("valid"), *documents("invalid")])
def test_a_valid_document_is_accepted_and_an_invalid_one_rejected(document: Path, tmp_path: Path) -> None:
    result = call("check", "--no-link", "--format", "json", str(document), cwd=tmp_path)
    errors = [one for one in json.loads(result.out)["diagnostics"] if one["severity"] == "error"]
    is_invalid = document.parent.name == "invalid"
    assert (result.code, bool(errors)) == (int(is_invalid), is_invalid), result.out
    assert all(item["line"] for item in errors if item["code"] != "RD101"), "an error says where it is"


@pytest.mark.share(54)
@pytest.mark.parametrize("target", RUNNING)
@pytest.mark.parametrize("answer", list(Verdict))
@pytest.mark.parametrize("document", documents("valid"))
def test_valid_document_walks_as_its_semantics_say(
    document: Path, answer: Verdict, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_file(str(document), Settings(link=False)).program
    assert program
    machine = Machine(program)
    expected = walk_of(program, answer)
    if machine.end(expected.state) is None:
        return
    tools = put_stub(tmp_path / "tools")
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    (tmp_path / "scratch").mkdir()
    (tmp_path / "workspace").mkdir()
    answers = (answer,) * len(expected.visits)
    places = (tmp_path / "workspace", tmp_path / "scratch")
    ran = import_module(RUNNING[target]).run(Setting(program, {}, (answers,), *places, 60, is_mock=False))
    assert retrace(machine, ran) == (expected, "")


def test_most_walks_end(conformance: Path) -> None:
    """What does not end is only compiled: an error in the bound could make that all of them."""
    for folder in ("valid", "invalid"):
        assert len(list((conformance / "rundown" / folder).glob("*.runbook.md"))) >= 10
    paths = sorted((conformance / "rundown" / "valid").glob("*.runbook.md"))
    programs = [compile_file(str(path), Settings(link=False)).program for path in paths]
    ends = [Machine(one).end(walk_of(one, Verdict.PASS).state) for one in programs if one]
    assert sum(end is not None for end in ends) > len(ends) * 3 // 4


def walk_of(program: Program, answer: Verdict) -> paths.Path:
    """The path by the semantics, commands ending as the stub does."""
    machine = Machine(program)

    def decide(node: Node, state: State) -> Outcome:
        if not isinstance(node.task, Shell):
            return Outcome(answer)
        passed = result_of(str(node.task.command), machine.attempt(state))
        return Outcome(Verdict.PASS if passed else Verdict.FAIL)

    return walk(machine, decide, LIMIT)


def result_of(command: str, attempt: int) -> bool:
    """The result of a command: that of its last line, which the shell cannot find if it is not `rd echo`."""
    words = shlex.split(command.strip().splitlines()[-1])
    if words[:2] != ["rd", "echo"]:
        return False
    results = [value for name, value in pairwise(words) if name == "--result"] or ["pass"]
    return results[min(attempt, len(results)) - 1] == "pass"


def put_stub(folder: Path) -> Path:
    folder.mkdir()
    (folder / "rd").write_text(STUB, encoding="utf-8")
    (folder / "rd").chmod(0o755)
    return folder


def test_a_scenario_with_a_jump_of_a_published_document_runs_on_python(conformance: Path, tmp_path: Path) -> None:
    body = (conformance / "rundown" / "valid" / "mixed-named-static.runbook.md").read_text(encoding="utf-8")
    lines = ("rd run --prompted main.runbook.md", "rd pass", "rd goto ErrorHandler", "rd pass")
    listed = "".join(f"      - {line}\n" for line in lines)
    head = f"---\nscenarios:\n  moved:\n    commands:\n{listed}    result: STOP\n---\n"
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "main.runbook.md").write_text(head + body, encoding="utf-8")
    result = call("test", "--on", "python", "main.runbook.md", cwd=tmp_path)
    assert result.code == 0, result.out + result.err
    assert "moved  python     STOP ERROR" in result.out
