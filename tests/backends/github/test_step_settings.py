"""The option `steps` in workflows whose steps call the runtime: secrets and environments of steps (E3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.github import GithubBackend
from compiler.ir.program import Program
from tests.backends.github.routed import (
    COMPLETE,
    STOP,
    Agent,
    Ask,
    Gate,
    Parallel,
    Shell,
    compiled,
    node,
    program,
    text,
    to,
)
from tests.backends.github.routed_runs import AGENT, ended, log, run
from tests.support.github.compiling import parsed

pytestmark = pytest.mark.tool

SECRETS = {"A": "secret-a", "B": "secret-b", "C": "secret-c"}


def shows(number: str) -> Shell:
    return Shell("bash", text(f'echo "{number} $A $B" >> "$FOLDER/shown"'))


def row(back: str = STOP) -> Program:
    """Commands, and an agent, so that the steps call the runtime; a failure of the last one leads back."""
    return program(
        node("1", shows("1"), to("2", "pass"), to(STOP, "fail")),
        node("2", shows("2"), to("3", "pass"), to(STOP, "fail")),
        node("3", Agent("", text("Report")), to("4", "pass"), to(STOP, "fail")),
        node("4", shows("4"), to(COMPLETE, "pass"), to(back, "fail")),
    )


def shown(folder: Path) -> list[str]:
    return (folder / "shown").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("is_loop", [False, True])
def test_each_step_gets_the_secrets_that_are_named_for_it(is_loop: bool, tmp_path: Path) -> None:
    steps = {"2": {"secrets": ["A"]}, "3": {"secrets": ["A"]}, "4": {"secrets": ["A", "B"]}}
    agent = {"run": AGENT, "secrets": ["C"]}
    text = compiled(row("1") if is_loop else row(), {"agent": agent, "secrets": ["C"], "steps": steps})
    done = run(tmp_path, text, {}, secrets=SECRETS)
    assert done.conclusion == "success", done.log
    assert shown(tmp_path) == ["1  ", "2 secret-a ", "4 secret-a secret-b"]
    (call,) = log(tmp_path)
    assert {name: call[2].get(name) for name in SECRETS} == {"A": "secret-a", "B": None, "C": "secret-c"}


def test_an_environment_cuts_the_run_into_jobs(tmp_path: Path) -> None:
    text = compiled(row(), {"agent": AGENT, "steps": {"2": {"environment": "production"}}})
    assert [job.get("environment") for job in parsed(text)["jobs"].values()] == [None, "production", None]
    done = run(tmp_path, text, {}, environments={"production": ["approved"]})
    assert (done.conclusion, shown(tmp_path)) == ("success", ["1  ", "2  ", "4  "]), done.log


def test_a_refused_environment_stops_the_run(tmp_path: Path) -> None:
    text = compiled(row(), {"agent": AGENT, "steps": {"2": {"environment": "production"}}})
    done = run(tmp_path, text, {}, environments={"production": ["rejected"]})
    assert (done.conclusion, shown(tmp_path)) == ("failure", ["1  "])


def test_a_run_that_waited_goes_on_behind_an_environment(tmp_path: Path) -> None:
    made = program(
        node("1", Ask("yes_no", text("Go on?")), to("2", "pass"), to(STOP, "fail")),
        node("2", shows("2"), to("3", "pass"), to(STOP, "fail")),
        node("3", Ask("input", text("Why?")), to("4", "pass")),
        node("4", shows("4"), to(COMPLETE)),
    )
    workflow = compiled(made, {"steps": {"2": {"environment": "production"}}})
    ends = []
    for number, inputs in enumerate([{}, {"answers": "1 yes", "resume": "1"}, {"answers": "3 so", "resume": "2"}], 1):
        asked = {"production": ["approved"]} if number == 2 else {}
        ends.append(ended(run(tmp_path, workflow, {}, number, inputs=inputs, environments=asked)))
    assert ends == ["WAITING 1", "WAITING 3", "COMPLETE"]
    assert shown(tmp_path) == ["2  ", "4  "]


def branching() -> Program:
    """A deployment that an agent may pass over, and a gate on either way."""
    return program(
        node("1", Agent("", text("Deploy?")), to("2", "pass"), to("3", "fail")),
        node("2", shows("2"), to("3", "pass"), to(STOP, "fail")),
        node("3", Gate("Go on?"), to("4", "approved"), to("5", "rejected")),
        node("4", shows("4"), to(COMPLETE)),
        node("5", shows("5"), to(COMPLETE)),
    )


@pytest.mark.share(3)
@pytest.mark.parametrize("is_deployed", [False, True])
@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_only_the_ways_through_an_environment_ask_for_it(is_deployed: bool, decision: str, tmp_path: Path) -> None:
    steps = {"2": {"environment": "staging"}, "4": {"environment": "production"}}
    text = compiled(branching(), {"agent": AGENT, "steps": steps})
    answers = {"1": ["yes"]} if is_deployed else {"1": [None]}
    asked = {"approval": [decision], **({"staging": ["approved"]} if is_deployed else {})}
    asked |= {"production": ["approved"]} if decision == "approved" else {}
    done = run(tmp_path, text, answers, environments=asked)
    wanted = [*(["2  "] if is_deployed else ()), "4  " if decision == "approved" else "5  "]
    assert shown(tmp_path) == wanted, done.log


def test_the_part_behind_a_gate_has_the_environment_of_the_step_there() -> None:
    made = program(
        node("1", Gate("Go on?"), to("2", "approved"), to(STOP, "rejected")),
        node("2", shows("2"), to(COMPLETE)),
    )
    jobs = parsed(compiled(made, {"steps": {"2": {"environment": "production"}}}))["jobs"]
    assert {name: job.get("environment") for name, job in jobs.items()} == {
        "part_1": None,
        "approve_s1": "approval",
        "part_2": "production",
    }


def test_the_entries_of_a_matrix_are_in_the_environment_of_their_step() -> None:
    agents = Parallel((Agent("", text("A")), Agent("", text("B"))))
    made = program(node("1", agents, to(COMPLETE, "pass"), to(STOP, "fail")))
    options = {"agent": AGENT, "parallel": "matrix", "steps": {"1": {"environment": "agents"}}}
    jobs = parsed(compiled(made, options))["jobs"]
    assert [name for name, job in jobs.items() if job.get("environment") == "agents"] == ["entries_s1"]


ASKING = program(
    node("1", Gate("Go on?"), to("2", "approved"), to(STOP, "rejected")),
    node("2", Ask("yes_no", text("Well?")), to(COMPLETE, "pass"), to(STOP, "fail")),
)
LOOP = program(node("1", Agent("", text("?")), to("1", "fail"), to(COMPLETE)))


@pytest.mark.parametrize(
    ("code", "made", "steps", "fragment"),
    [
        ("RD013", ASKING, {"3": {"secrets": ["A"]}}, "there is no step `3`"),
        ("RD013", ASKING, {"1": {"secrets": ["A"]}}, "gives secrets to step 1"),
        ("RD013", ASKING, {"2": {"secrets": ["A"]}}, "gives secrets to step 2"),
        ("RD013", ASKING, {"1": {"environment": "production"}}, "an environment for step 1"),
        ("RD520", LOOP, {"1": {"environment": "production"}}, "step 1 cannot have an environment in a loop"),
    ],
)
def test_what_a_step_cannot_have_is_refused(code: str, made: Program, steps: dict[str, object], fragment: str) -> None:
    (found,) = GithubBackend().emit(made, {"agent": AGENT, "steps": steps}).diagnostics
    assert (found.code, fragment in found.message) == (code, True), found.message
