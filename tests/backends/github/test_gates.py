"""Gates: approvals of a protected environment that nothing in a run can forge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from compiler.ir.program import Program
from runtime_shim.targets.github.api import Api, HaltError, next_decision, reviews
from tests.backends.github.asking import done, headings
from tests.backends.github.routed import INLINE, End, Gate, Shell, Workflow, compiled, node, program, text, to
from tests.support import actions_engine as engine
from tests.support.actions_engine import EngineRun
from tests.support.github.compiling import parsed

pytestmark = pytest.mark.process

NOT_REVIEWED = "no review of the environment approval. No one has decided"

BUILD = 'echo build >> "$LOG"; echo built > result'


def gated(build: str = BUILD) -> Program:
    """A program with a gate between two commands, and a command after a rejection."""
    log = 'echo "{} $(cat result)" >> "$LOG"'.format
    return program(
        node("1", Shell("bash", text(build)), to("2", "pass"), to("STOP", "fail"), title="Build"),
        node("2", Gate("2"), to("3", "approved"), to("Withdraw", "rejected"), title="Agree"),
        node("3", Shell("bash", text(log("install"))), to("There", "pass"), to("STOP", "fail"), title="Install"),
        node("Withdraw", Shell("bash", text(log("withdraw"))), to("Unwanted", "pass"), to("STOP", "fail"), title=""),
        node("There", End("complete", text("It is there"))),
        node("Unwanted", End("stop", text("Not wanted"))),
    )


def two() -> Program:
    """A program with two gates in a row, and one beside them."""
    return program(
        node("1", Gate("1"), to("2", "approved"), to("Other", "rejected"), title="First"),
        node("2", Gate("2"), to("Both", "approved"), to("Second", "rejected"), title="Second"),
        node("Other", Gate("Other"), to("Done", "approved"), to("Last", "rejected")),
        node("Last", Shell("bash", text("true")), to("Neither", "pass"), to("STOP", "fail")),
        node("Both", End("complete", text("Both"))),
        node("Second", End("stop", text("Second"))),
        node("Done", End("complete", text("Other"))),
        node("Neither", End("stop", text("Neither"))),
    )


def run(folder: Path, workflow: Workflow, *decisions: str, **more: Any) -> EngineRun:
    """Run a workflow about whose gates people decide so."""
    (folder / "repository").mkdir(exist_ok=True)
    workflow.put_into(folder / "repository")
    env = {"LOG": str(folder / "log")}
    given = {"env": env, "environments": {"approval": decisions}, **more}
    return engine.run(folder / "repository", workflow, history=folder / "history", **given)


def results(ran: EngineRun) -> dict[str, str]:
    """The results of the jobs."""
    return {name: job.result for name, job in ran.jobs.items()}


def test_an_approval_passes(tmp_path: Path) -> None:
    ran = run(tmp_path, compiled(gated()), "approved")
    assert headings(ran) == ["COMPLETE It is there"]
    assert ran.exit_code == 0
    assert done(tmp_path) == ["build", "install built"]
    rows = re.findall(r"^\| [\d:]+ \| (\d) \w+ \| (\w+)", ran.summary, re.MULTILINE)
    assert rows == [("1", "PASS"), ("2", "APPROVED"), ("3", "PASS")], "the table has all parts"


@pytest.mark.parametrize("jobs", ["all", "part_2"])
def test_a_rejection_fails_and_a_further_attempt_is_refused(jobs: str, tmp_path: Path) -> None:
    workflow = compiled(gated())
    ran = run(tmp_path, workflow, "rejected")
    assert headings(ran) == ["STOP Not wanted"]
    assert ran.exit_code
    again = run(tmp_path, workflow, "approved", rerun=jobs)
    reason = {
        "all": "Completed steps would run again. Instead, start a new run",
        "part_2": "An earlier attempt continued from here, and this would repeat it",
    }
    assert reason[jobs] in again.log
    assert done(tmp_path) == ["build", "withdraw built"]


def test_the_job_of_an_approval_is_protected_and_may_only_look() -> None:
    jobs = parsed(compiled(gated(), INLINE))["jobs"]
    assert [job.get("environment") for job in jobs.values()] == [None, "approval", None]
    assert [job.get("permissions", {}) for job in jobs.values()] == [{"actions": "read"}, {}, {"actions": "read"}]
    assert all("TOKEN" not in str(job.get("env")) for job in jobs.values()), "no step gets the token"
    nodes = [step for job in jobs.values() for step in job["steps"] if step["name"] in {"1. Build", "3. Install"}]
    assert len(nodes) == 2
    assert "token" not in str(nodes)
    assert jobs["part_2"]["needs"] == ["part_1", "approve_agree"]


def test_no_command_tells_later_steps_what_to_run_and_nobody_is_asked_after_a_failure(tmp_path: Path) -> None:
    steal = 'echo \'echo "${TOKEN-nothing}" >> "$LOG"\' > trap; echo BASH_ENV=$PWD/trap >> "$GITHUB_ENV"'
    ran = run(tmp_path, compiled(gated(f"{steal} && exit 4")))
    assert results(ran) == {"part_1": "failure", "approve_agree": "skipped", "part_2": "skipped"}
    assert headings(ran) == ["STOP It failed."]
    assert not (tmp_path / "log").exists(), "a command has no $GITHUB_ENV"


def test_two_gates_in_a_row_hand_on_the_state_of_their_parts(tmp_path: Path) -> None:
    workflow = compiled(two())
    assert headings(run(tmp_path, workflow, "approved", "approved")) == ["COMPLETE Both"]
    saved = sorted(path.name for path in (tmp_path / "history" / "1" / "artifacts").iterdir())
    assert [name for name in saved if "state" in name] == ["rdc-state-part_1", "rdc-state-part_2"]
    jobs = parsed(workflow)["jobs"]
    takes = "Load the run and its workspace"
    taken = {job: step["with"]["name"] for job in jobs for step in jobs[job]["steps"] if step["name"] == takes}
    assert taken == {"part_2": "rdc-state-part_1", "part_3": "rdc-state-part_2"}


def test_a_gate_beside_them_is_reached_by_a_rejection(tmp_path: Path) -> None:
    assert headings(run(tmp_path, compiled(two()), "rejected", "rejected")) == ["STOP Neither"]


@pytest.mark.parametrize("decision", ["bypassed", "refused"])
def test_a_job_that_nobody_has_reviewed_decides_nothing(decision: str, tmp_path: Path) -> None:
    """An administrator lets it in; after 30 days, or by a rule of the environment, it fails."""
    ran = run(tmp_path, compiled(gated()), decision)
    assert ran.exit_code
    assert results(ran)["part_2"] == "failure"
    assert NOT_REVIEWED in ran.summary
    assert headings(ran) == [], "no end was reached"
    assert done(tmp_path) == ["build"]


@pytest.mark.parametrize(("first", "second"), [("rejected", "refused"), ("approved", "bypassed")])
def test_the_review_of_an_earlier_gate_does_not_decide_the_next_one(first: str, second: str, tmp_path: Path) -> None:
    ran = run(tmp_path, compiled(two()), first, second)
    assert headings(ran) == []
    assert NOT_REVIEWED in ran.summary


def test_without_the_api_nobody_is_asked(tmp_path: Path) -> None:
    ran = run(tmp_path, compiled(gated()), failing={"approvals": 403})
    assert results(ran) == {"part_1": "failure", "approve_agree": "skipped", "part_2": "skipped"}
    assert "The reviews of this run cannot be read" in ran.summary


def test_a_secret_handed_to_another_job_is_refused(tmp_path: Path) -> None:
    workflow = compiled(gated('echo "$DEPLOY_TOKEN" > token'), {"secrets": {"DEPLOY_TOKEN": "DEPLOY_TOKEN"}})
    ran = run(tmp_path, workflow, secrets={"DEPLOY_TOKEN": "a-long-secret-of-a-deployment"})
    assert "the file token contains a secret" in ran.summary
    assert results(ran)["part_1"] == "failure"
    assert not (tmp_path / "log").exists()
    assert not list((tmp_path / "history").rglob("rdc-state*"))


def review(state: str, environment: str, comment: str = "") -> dict[str, object]:
    """A review as GitHub's API lists it."""
    return {"state": state, "comment": comment, "environments": [{"name": environment}], "user": {"login": "octocat"}}


def test_only_reviews_of_the_environment_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub ignores the case of its name."""
    found = [review("approved", "production"), review("rejected", "APPROVAL", "::x\x1b"), review("pending", "approval")]
    monkeypatch.setattr(Api, "get", lambda *_: (200, found))
    left = reviews(Api("the-token"), "1", "approval")
    assert left == [("rejected", "octocat", "::x\x1b")]
    decision = next_decision(left, "approval")
    assert (decision.word, decision.by) == ("rejected", "octocat")
    assert "\x1b" not in decision.note
    with pytest.raises(HaltError, match=NOT_REVIEWED):
        next_decision(left, "approval")
