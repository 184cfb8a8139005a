"""Agent workflows on the command line: how their gates are called, what a rejection tells, and their examples."""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from compiler.driver import compile_file
from rdc.testing.result import Status
from rdc.testing.tester import try_scenarios
from tests.conftest import ROOT
from tests.support import warm
from tests.support.cli import Result, call
from tests.support.makefiles import environment
from tests.support.specifications import Place, compiled_to

pytestmark = pytest.mark.process

WORKFLOW = """name: ship
steps:
  - {name: build, agent: builder, prompt: Build it., next: release}
  - {name: release, agent: publisher, human: true, prompt: Release it., next: announce}
  - {name: announce, agent: publisher, human: true, prompt: Announce it., end: true}
"""
AGENT = "cat > /dev/null; echo $RDC_STEP >> called; echo ok"
TOOL = {"name": "push", "args": {}, "required": True, "risk": "high"}


def called(folder: Path, *words: str) -> Result:
    done = warm.run(words, cwd=folder, env=environment({}))
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def lines(folder: Path) -> list[str]:
    """The steps whose agents or executors were called."""
    path = folder / "called"
    return path.read_text(encoding="utf-8").split() if path.exists() else []


class Ship:
    """A folder with a workflow, run by the program that it compiles to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "rdc.toml").touch()
        (folder / "ship.workflow.yaml").write_text(WORKFLOW, encoding="utf-8")
        assert call("compile", "ship.workflow.yaml", "--to", "python", "-o", "ship.py", cwd=folder).code == 0

    def __call__(self, *words: str) -> Result:
        return called(self.folder, sys.executable, "ship.py", *words)

    @property
    def called(self) -> list[str]:
        return lines(self.folder)

    @property
    def next(self) -> Any:
        return json.loads(self("status", "--json").out)["next"]


@pytest.fixture
def ship(tmp_path: Path) -> Ship:
    made = Ship(tmp_path)
    assert made("run", "--agent", AGENT).code == 75
    return made


def test_a_gate_is_approved_by_the_name_of_its_step_and_other_names_approve_nothing(ship: Ship) -> None:
    for name in ("build", "announce/human", "releas", "human", ""):
        assert ship("answer", name, "approved").code == 2, name
    assert (ship("approve", "--gate", "announce").code, ship("resume", "--agent", AGENT).code) == (2, 75)
    assert (ship.called, ship("approve", "--gate", "release", "--by", "ada").code) == (["build"], 0)
    assert (ship("resume", "--agent", AGENT).code, ship.called) == (75, ["build", "release"])
    assert (ship("answer", "announce", "approved").code, ship("resume", "--agent", AGENT).code) == (0, 0)
    assert ship.called == ["build", "release", "announce"]


def test_a_gate_is_rejected_by_the_name_of_its_step_and_only_a_retry_asks_again(ship: Ship) -> None:
    printed = ship("answer", "release", "rejected")
    assert (printed.code, "STOP step release was rejected" in printed.err) == (0, True), printed
    assert "resume" not in printed.err
    assert "to run the failed step again: " in printed.err
    assert [command.split()[-1] for command in ship.next] == ["retry", "run"]
    assert (ship("resume", "--agent", AGENT).code, ship("retry", "--agent", AGENT).code) == (1, 75)
    assert ship.called == ["build"]


def test_the_status_offers_to_call_a_failed_agent_again(ship: Ship) -> None:
    ship("approve", "--gate", "release")
    assert ship("resume", "--agent", "exit 3").code == 1
    again, new = ship.next
    assert again.endswith("retry")
    assert new.endswith("run")
    assert again in ship("status").out
    assert ship("retry", "--agent", AGENT).code == 75, "the gate of this step stays approved"
    assert ship.called == ["build", "release"]


def specification(*steps: dict[str, Any]) -> dict[str, Any]:
    """A specification whose executor always succeeds, and whose tool does nothing."""
    tools = {"push": {"command": "cat", "arguments": {"type": "object"}, "risk": "high"}}
    config = {"executor": "echo $RDC_STEP >> called", "tools": tools}
    return {"workflow": {"module": "m", "workflow": "w"}, "config": config, "step_specs": list(steps)}


def test_a_gate_of_a_specification_is_named_by_its_step(tmp_path: Path) -> None:
    place = Place(tmp_path, compiled_to(tmp_path, specification({"id": "a", "human_gate": "required"})))
    assert place("run").code == 75
    printed = place("answer", "a", "rejected")
    assert (printed.code, "to run the failed step again: " in printed.err) == (0, True), printed
    assert (place("resume").code, place("approve", "--gate", "a", "--by", "ada").code) == (75, 0)
    assert (place("resume").code, [one["gate_id"] for one in place.record("approvals")]) == (0, ["m:w:a:hitl"])


def test_the_name_of_a_step_with_two_gates_opens_none(tmp_path: Path) -> None:
    step = {"id": "a", "human_gate": "required", "tools": [TOOL]}
    place = Place(tmp_path, compiled_to(tmp_path, specification(step)))
    assert place("run").code == 75
    for words in (("answer", "a", "approved"), ("approve", "--gate", "a")):
        done = place(*words)
        assert (done.code, "a has several gates; name one: " in done.err) == (2, True), done
        assert "tool:push:a" in done.err
    assert place.record("approvals") == []


def makefile(folder: Path, name: str, text: str) -> Callable[..., Result]:
    """Compile a document to a Makefile; return what calls make."""
    (folder / "rdc.toml").touch()
    (folder / name).write_text(text, encoding="utf-8")
    done = call("compile", name, "--to", "make", "-o", "Makefile", cwd=folder)
    assert done.code == 0, done.err
    return partial(called, folder, "make")


def test_a_gate_of_a_workflow_is_named_by_its_step_in_make_and_one_call_opens_one(tmp_path: Path) -> None:
    made = makefile(tmp_path, "ship.workflow.yaml", WORKFLOW)
    assert made(f"AGENT={AGENT}", "HUMAN=NO").code != 0
    assert (lines(tmp_path), made("answer", "STEP=release", "REPLY=approved").code) == (["build"], 0)
    made("resume", f"AGENT={AGENT}")
    assert lines(tmp_path) == ["build", "release"]
    made("resume", f"AGENT={AGENT}", "HUMAN=1")
    assert lines(tmp_path) == ["build", "release", "announce"]


def test_a_gate_of_a_specification_is_named_by_its_step_in_make(tmp_path: Path) -> None:
    made = makefile(tmp_path, "s.stepspec.json", json.dumps(specification({"id": "a", "human_gate": "required"})))
    assert made().code != 0
    assert (made("approve", "GATE=a").code, made("resume").code, lines(tmp_path)) == (0, 0, ["a"])


GATED = [{"id": step, "human_gate": "required"} for step in ("a", "b")]


@pytest.mark.parametrize(
    ("words", "again", "done"),
    [
        (["run", "HUMAN=yes"], "HUMAN=1", ["a", "b"]),
        pytest.param(["-j4", "-k", "HUMAN=1", "RDC_OPENS="], "HUMAN=1", ["a", "b"], marks=pytest.mark.soak),
        (["HUMAN=0"], "HUMAN=", []),
    ],
)
def test_one_call_of_make_opens_one_gate_of_a_specification_unless_the_value_is_false(
    tmp_path: Path, words: list[str], again: str, done: list[str]
) -> None:
    made = makefile(tmp_path, "s.stepspec.json", json.dumps(specification(*GATED)))
    assert made(*words).code != 0
    assert lines(tmp_path) == done[:1]
    assert (made("resume", again).code == 0, lines(tmp_path)) == (bool(done), done)


EXAMPLES = sorted((ROOT / "examples" / "workflows").glob("*.workflow.yaml"))


@pytest.mark.share(2)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_right_and_in_their_normal_form(path: Path) -> None:
    found = compile_file(str(path))
    assert found.diagnostics == ()
    assert found.scenarios
    results = list(try_scenarios(found, [], 60.0))
    assert [(one.scenario.name, one.message) for one in results if one.status is not Status.PASSED] == []
    assert call("fmt", "--check", str(path), cwd=ROOT).code == 0


def test_examples_show_what_a_workflow_can_have() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in EXAMPLES)
    assert len(EXAMPLES) >= 6
    for key in ("parallel:", "check: all", "check: any", "human: true", "TASK_DONE", "validation:", "max-steps:"):
        assert key in texts
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert all(f"workflows/{path.name}" in readme for path in EXAMPLES)
