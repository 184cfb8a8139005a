"""Rules in runs of workers: the legs keep the values, and an operator's decisions start the next leg."""

from __future__ import annotations

import json

import pytest

from backends.dbos import DbosBackend
from benchmarks.workers.fleet import CommandResult, Fleet, until
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Ask
from compiler.ir.texts import text
from tests.support.process import Result, Table
from tests.support.rules import try_at_random
from tests.support.runtime_programs import edge, node, program, sh

pytestmark = pytest.mark.tool

CRASH = "echo one >> log; [ ! -e crash ] || { rm crash; kill -9 $PPID; exit 1; }"
APPROVED = Rule("approved", "2 PASS before 3", (Event("3"),), (Event("2", "pass"),), needs="2 PASS")
CHECKED = Rule("checked", "1 PASS before 3", (Event("3"),), (Event("1", "pass"),), needs="1 PASS")


def deploys(*rules: Rule) -> Program:
    """A check, a question, and a deployment."""
    return program(
        node("1", sh(CRASH), edge("2", "pass"), edge("STOP", "fail")),
        node("2", Ask("pass_fail", text("Well?")), edge("3", "pass"), edge("STOP", "fail")),
        node("3", sh("echo deployed >> log"), edge("COMPLETE", "pass"), edge("STOP", "fail")),
        rules=rules,
    )


def started(fleet: Fleet, *rules: Rule) -> None:
    """Compile a worker, start it, and start a run."""
    emission = DbosBackend().emit(deploys(*rules), {})
    assert emission.text
    fleet.script.write_text(emission.text)
    fleet.worker()
    fleet.start("r1")


def state_of(fleet: Fleet, *known: str) -> dict[str, object]:
    """The status of the run, once it is in one of these states."""

    def found() -> dict[str, object] | None:
        until(lambda: fleet.state("r1") not in ("queued", "running"))  # which asks the database without a process
        facts: dict[str, object] = json.loads(fleet.call("status", "r1", "--json").out)
        return facts if facts["state"] in known else None

    return until(found) or {}


def test_a_jump_is_refused_and_an_override_is_kept(sqlite_fleet: Fleet) -> None:
    started(sqlite_fleet, APPROVED)
    state_of(sqlite_fleet, "waiting")
    refused = sqlite_fleet.call("goto", "r1", "3")
    assert (refused.code, 'rule approved needs "2 PASS" first' in refused.err) == (2, True), refused.text
    moved = sqlite_fleet.call("goto", "r1", "1")
    assert (moved.code, "closed rules: approved" in moved.err) == (0, True), moved.text
    state_of(sqlite_fleet, "waiting")
    passed = sqlite_fleet.call("goto", "r1", "3", "--override", "approved", "--note", "so", "--by", "ann")
    assert passed.code == 0, passed.text
    facts = state_of(sqlite_fleet, "complete")
    assert [(one["rule"], one["by"]) for one in facts["overrides"]] == [("approved", "ann")]  # type: ignore[attr-defined]


def test_a_worker_holds_a_run_after_an_assumed_outcome(sqlite_fleet: Fleet) -> None:
    (sqlite_fleet.folder / "crash").touch()
    started(sqlite_fleet, CHECKED)
    state_of(sqlite_fleet, "interrupted")
    assert sqlite_fleet.call("answer", "r1", "1", "pass").code == 0
    state_of(sqlite_fleet, "waiting")
    answered = sqlite_fleet.call("answer", "r1", "2", "pass")
    assert (answered.code, 'rule checked needs "1 PASS" first' in answered.err) == (0, True), answered.text
    facts = state_of(sqlite_fleet, "held")
    assert facts["held"] == ['3 can\'t start: rule checked needs "1 PASS" first']
    assert any("--override checked" in one for one in facts["next"]), facts["next"]  # type: ignore[attr-defined]
    assert sqlite_fleet.call("status", "r1").code == 75
    passed = sqlite_fleet.call("resume", "r1", "--override", "checked", "--note", "seen")
    assert passed.code == 0, passed.text
    state_of(sqlite_fleet, "complete")
    assert (sqlite_fleet.folder / "log").read_text() == "one\ndeployed\n"


class Driven:
    """A worker with the subcommands of the Python target. It continues a run by itself."""

    def __init__(self, fleet: Fleet, made: Program) -> None:
        self._fleet, self.path = fleet, fleet.folder
        emission = DbosBackend().emit(made, {})
        assert emission.text
        fleet.script.write_text(emission.text)
        fleet.worker()

    def run(self, *words: str) -> Result:
        """Call a subcommand; one that continues the run waits until it stops."""
        verb, *rest = words
        if verb in ("goto", "answer"):
            return self._result(self._fleet.call(verb, "r1", *rest))
        if verb == "run":
            self._fleet.start("r1")
        elif rest and not rest[0].startswith("--override"):
            self._fleet.call("answer", "r1", str(self._facts()["step"]), "rerun" if rest[1:] == [] else rest[1])
        elif rest:
            self._fleet.call("resume", "r1", *rest)
        facts = state_of(self._fleet, "waiting", "held", "interrupted", "complete", "stop")
        codes = {"complete": 0, "stop": 1, "interrupted": -9}
        lines = [*facts.get("held", ()), f"rdc: WAITING {facts['step']} {facts['step_title']}"]  # type: ignore[misc]
        return Result(codes.get(str(facts["state"]), 75), "", "\n".join(lines) + "\n")

    @staticmethod
    def _result(done: CommandResult) -> Result:
        return Result(done.code, done.out, done.err)

    def _facts(self) -> Table:
        found: Table = json.loads(self._fleet.call("status", "r1", "--json").out)
        return found

    def records(self) -> list[Table]:
        """Return the steps of the run, as far as the status has them."""
        finished: list[Table] = self._facts()["finished"]
        return finished


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.soak) for n in range(1, 60))])
def test_a_run_of_a_worker_is_held_as_the_trace_says(sqlite_fleet: Fleet, seed: int) -> None:
    try_at_random(seed, lambda made: Driven(sqlite_fleet, made), 6)
