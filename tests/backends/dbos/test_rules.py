"""Rules in runs of workers: the legs keep the values, and an operator's decisions start the next leg."""

import json

import pytest

from backends.dbos import DbosBackend
from benchmarks.workers.fleet import until
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Ask
from compiler.ir.texts import text
from tests.backends.dbos.fleet import WarmFleet
from tests.support.process import Result, Table
from tests.support.rules import try_at_random
from tests.support.runtime_programs import edge, node, program, sh

pytestmark = pytest.mark.tool

CRASH = "echo one >> log; [ ! -e crash ] || { rm crash; kill -9 $PPID; exit 1; }"
APPROVED = Rule("approved", "2 PASS before 3", (Event("3"),), (Event("2", "pass"),), needs="2 PASS")
CHECKED = Rule("checked", "1 PASS before 3", (Event("3"),), (Event("1", "pass"),), needs="1 PASS")


def deploys() -> Program:
    """A check, a question, and a deployment."""
    return program(
        node("1", sh(CRASH), edge("2", "pass"), edge("STOP", "fail")),
        node("2", Ask("pass_fail", text("Well?")), edge("3", "pass"), edge("STOP", "fail")),
        node("3", sh("echo deployed >> log"), edge("COMPLETE", "pass"), edge("STOP", "fail")),
        rules=(APPROVED, CHECKED),
    )


def state_of(fleet: WarmFleet, *known: str, run: str = "r1") -> Table:
    """The status of a run, once it is in one of these states."""

    def found() -> Table | None:
        until(lambda: fleet.state(run) not in ("queued", "running"))  # which asks the database without a process
        facts: Table = json.loads(fleet.call("status", run, "--json").out)
        return facts if facts["state"] in known else None

    return until(found) or {}


def test_a_jump_is_refused_an_override_is_kept_and_an_assumed_outcome_holds_a_run(sqlite_fleet: WarmFleet) -> None:
    fleet = sqlite_fleet
    fleet.script.write_text(DbosBackend().emit(deploys(), {}).text or "")
    fleet.worker()
    fleet.start("r1")
    state_of(fleet, "waiting")
    fleet.expect(2, 'rule approved needs "2 PASS" first', "goto", "r1", "3")
    fleet.expect(0, "closed rules: ", "goto", "r1", "1")
    state_of(fleet, "waiting")
    fleet.expect(0, "", "goto", "r1", "3", "--override", "approved", "--note", "so", "--by", "ann")
    facts = state_of(fleet, "complete")
    assert [(one["rule"], one["by"]) for one in facts["overrides"]] == [("approved", "ann")]

    (fleet.folder / "crash").touch()
    (fleet.folder / "log").unlink()
    fleet.start("r2")
    state_of(fleet, "interrupted", run="r2")
    assert fleet.call("answer", "r2", "1", "pass").code == 0
    state_of(fleet, "waiting", run="r2")
    fleet.expect(0, 'rule checked needs "1 PASS" first', "answer", "r2", "2", "pass")
    facts = state_of(fleet, "held", run="r2")
    assert facts["held"] == ['3 can\'t start: rule checked needs "1 PASS" first']
    assert any("--override checked" in one for one in facts["next"]), facts["next"]
    assert fleet.call("status", "r2").code == 75
    fleet.expect(0, "", "resume", "r2", "--override", "checked", "--note", "seen")
    state_of(fleet, "complete", run="r2")
    assert (fleet.folder / "log").read_text() == "one\ndeployed\n"


class Driven:
    """A worker with the subcommands of the Python target. It continues a run by itself."""

    def __init__(self, fleet: WarmFleet, made: Program) -> None:
        self._fleet, self.path = fleet, fleet.folder
        emission = DbosBackend().emit(made, {})
        assert emission.text
        fleet.script.write_text(emission.text)
        fleet.worker()

    def run(self, *words: str) -> Result:
        """Call a subcommand; one that continues the run waits until it stops."""
        verb, *rest = words
        if verb in ("goto", "answer"):
            done = self._fleet.call(verb, "r1", *rest)
            return Result(done.code, done.out, done.err)
        if verb == "run":
            self._fleet.start("r1")
        elif rest and not rest[0].startswith("--override"):
            self._fleet.call("answer", "r1", str(self._facts()["step"]), "rerun" if rest[1:] == [] else rest[1])
        elif rest:
            self._fleet.call("resume", "r1", *rest)
        facts = state_of(self._fleet, "waiting", "held", "interrupted", "complete", "stop")
        codes = {"complete": 0, "stop": 1, "interrupted": -9}
        lines = [*facts.get("held", ()), f"rdc: WAITING {facts['step']} {facts['step_title']}"]
        return Result(codes.get(str(facts["state"]), 75), "", "\n".join(lines) + "\n")

    def _facts(self) -> Table:
        found: Table = json.loads(self._fleet.call("status", "r1", "--json").out)
        return found

    def records(self) -> list[Table]:
        """Return the steps of the run, as far as the status has them."""
        finished: list[Table] = self._facts()["finished"]
        return finished


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(60))
def test_a_run_of_a_worker_is_held_as_the_trace_says(sqlite_fleet: WarmFleet, seed: int) -> None:
    try_at_random(seed, lambda made: Driven(sqlite_fleet, made), 6)
