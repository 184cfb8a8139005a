"""Gates: approvals of a protected environment that nothing in a run can forge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.ir.program import Program
from tests.backends.github.routed import End, Gate, Shell, compiled, node, program, text, to
from tests.backends.github.test_prompts import done, heading
from tests.support.github import act
from tests.support.github.compiling import parsed
from tests.support.github.reviews import Reviews, begin_with, reviewed, stub

pytestmark = pytest.mark.share(3)

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


def approvals(made: Program | None = None, build: str = BUILD) -> str:
    return compiled(made or gated(build))


@pytest.fixture
def github() -> Iterator[Reviews]:
    with stub() as reviews:
        yield reviews


def asking(text: str) -> dict[str, str]:
    """The job that waits at each gate, by the gate."""
    jobs = parsed(text)["jobs"].items()
    return {name.removeprefix("approve_"): name for name, job in jobs if job.get("environment") == "approval"}


def run(folder: Path, text: str, github: Reviews | None = None, *rejected: str, attempt: int = 1) -> act.ActRun:
    """Run a workflow whose gates people approve, except for those of some jobs."""
    if github:
        for step, job in asking(text).items():
            text = reviewed(text, f"echo {'rejected' if step in rejected else 'approved'}", job)
    return unasked(folder, text, github, attempt=attempt)


def unasked(folder: Path, text: str, github: Reviews | None, *, attempt: int = 1) -> act.ActRun:
    """Run a workflow whose environment has no reviewers."""
    env = {"LOG": str(folder / "log"), "ARTIFACTS": str(folder / "artifacts")}
    where = github.url if github else act.NO_API
    return act.run(folder, text, env=env, api_url=where, run_attempt=attempt)


def test_an_approval_passes(tmp_path: Path, github: Reviews) -> None:
    ran = run(tmp_path, approvals(), github)
    assert heading(ran) == ["COMPLETE It is there"]
    assert ran.exit_code == 0
    assert done(tmp_path) == ["build", "install built"]
    rows = re.findall(r"^\| (\d)\. \w+ \| 1 \| (\w+)", ran.summary, re.MULTILINE)
    assert rows == [("1", "PASS"), ("2", "APPROVED"), ("3", "PASS")], "the table has all parts"


def test_a_rejection_fails(tmp_path: Path, github: Reviews) -> None:
    ran = run(tmp_path, approvals(), github, "agree")
    assert heading(ran) == ["STOP Not wanted"]
    assert ran.exit_code
    assert done(tmp_path) == ["build", "withdraw built"]


def test_the_job_of_an_approval_is_protected_and_may_only_look(tmp_path: Path) -> None:
    jobs = parsed(approvals())["jobs"]
    assert [job.get("environment") for job in jobs.values()] == [None, "approval", None]
    assert [job.get("permissions", {}) for job in jobs.values()] == [
        {"actions": "read"},
        {},
        {"actions": "read"},
    ]
    assert all("TOKEN" not in str(job.get("env")) for job in jobs.values()), "no step gets the token"
    nodes = [step for job in jobs.values() for step in job["steps"] if step["name"] in {"1. Build", "3. Install"}]
    assert len(nodes) == 2
    assert "token" not in str(nodes)
    assert jobs["part_2"]["needs"] == ["part_1", "approve_agree"]


@pytest.mark.share(3)
@pytest.mark.parametrize("trap", ["echo BASH_ENV=$PWD/trap", "cp trap curl; chmod +x curl; echo PATH=$PWD:$PATH"])
def test_no_step_gets_at_the_token_by_what_later_steps_run(trap: str, tmp_path: Path, github: Reviews) -> None:
    steal = 'echo \'echo "${TOKEN-nothing}" >> "$LOG"\' > trap'
    build = BUILD.replace("echo built > result", f'{steal}; {trap} >> "$GITHUB_ENV"')
    ran = unasked(tmp_path, approvals(build=build), github)
    assert ran.jobs["part_1"] == "failure", "a command has no $GITHUB_ENV"
    plain = build.replace(' >> "$GITHUB_ENV"', "")
    assert unasked(tmp_path, approvals(build=plain), github).jobs["part_1"] == "success"
    assert not any("the-token" in line for line in done(tmp_path))


def test_nobody_is_asked_where_no_gate_is_reached(tmp_path: Path, github: Reviews) -> None:
    text = approvals(build="exit 4")
    ran = run(tmp_path, text, github)
    assert [job for job, outcome in ran.jobs.items() if outcome == "skipped"] == ["approve_agree", "part_2"]
    assert heading(ran) == ["STOP It failed."]


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("rejected", "end"),
    [
        ([], "COMPLETE Both"),
        (["second"], "STOP Second"),
        (["first"], "COMPLETE Other"),
        (["first", "Other"], "STOP Neither"),
    ],
)
def test_two_gates_in_a_row_and_one_beside(rejected: list[str], end: str, tmp_path: Path, github: Reviews) -> None:
    assert heading(run(tmp_path, approvals(two()), github, *rejected)) == [end]


def test_an_environment_without_reviewers_approves_nothing(tmp_path: Path, github: Reviews) -> None:
    """GitHub creates an environment that is not there, and lets its jobs pass."""
    ran = unasked(tmp_path, approvals(), github)
    assert (ran.jobs["approve_agree"], ran.jobs["part_2"]) == ("success", "failure")
    assert "no review of the environment approval. No one has decided, or it has no required reviewers" in ran.summary
    assert heading(ran) == [], "no end was reached"
    assert done(tmp_path) == ["build"]


@pytest.mark.share(3)
@pytest.mark.parametrize("before", [["approved"], ["rejected"], ["approved", "rejected"]])
def test_an_earlier_review_is_no_answer(before: list[str], tmp_path: Path, github: Reviews) -> None:
    """The reviews of earlier gates, and of earlier attempts of the run."""
    for state in before:
        github.decide(state)
    text = approvals()
    assert heading(unasked(tmp_path, text, github)) == []
    assert heading(unasked(tmp_path, begin_with(text, "approve_agree", ["exit 1"]), github)) == []
    assert done(tmp_path) == ["build", "build"]
    assert heading(run(tmp_path, text, github)) == ["COMPLETE It is there"]
    assert heading(run(tmp_path, text, github, "agree")) == ["STOP Not wanted"]


def test_the_review_of_another_environment_is_no_answer(tmp_path: Path, github: Reviews) -> None:
    github.environment = "production"
    assert heading(run(tmp_path, approvals(), github)) == []
    github.environment = "APPROVAL"
    assert heading(run(tmp_path, approvals(), github)) == ["COMPLETE It is there"], "GitHub ignores case"


def test_a_failure_that_nobody_has_decided_is_no_rejection(tmp_path: Path, github: Reviews) -> None:
    """After 30 days, by a rule of the environment, or without its runner the job of an approval fails too."""
    ran = unasked(tmp_path, begin_with(approvals(), "approve_agree", ["exit 1"]), github)
    assert heading(ran) == []
    assert ran.exit_code
    assert "no review of the environment approval. No one has decided" in ran.summary
    assert done(tmp_path) == ["build"]


def test_a_rejection_does_not_decide_the_next_gate(tmp_path: Path, github: Reviews) -> None:
    text = approvals(two())
    jobs = asking(text)
    text = begin_with(text, jobs["Other"], ["exit 1"])
    ran = unasked(tmp_path, reviewed(text, "echo rejected", jobs["first"]), github)
    assert heading(ran) == []
    assert "no review of the environment approval. No one has decided" in ran.summary


def test_without_the_api_nobody_is_asked(tmp_path: Path) -> None:
    ran = run(tmp_path, approvals())
    assert (ran.jobs["part_1"], ran.jobs["approve_agree"], ran.jobs["part_2"]) == ("failure", "skipped", "skipped")
    assert "The reviews of this run cannot be read" in ran.summary


def test_each_part_hands_on_its_own_state(tmp_path: Path, github: Reviews) -> None:
    text = approvals(two())
    assert heading(run(tmp_path, text, github)) == ["COMPLETE Both"]
    assert sorted(path.name for path in (tmp_path / "artifacts" / "1").iterdir()) == [
        "rdc-state-part_1",
        "rdc-state-part_2",
    ]
    jobs = parsed(text)["jobs"]
    takes = "Load the run and its workspace"
    taken = {job: step["with"]["name"] for job in jobs for step in jobs[job]["steps"] if step["name"] == takes}
    assert taken == {
        "part_2": "rdc-state-part_1",
        "part_3": "rdc-state-part_2",
    }


@pytest.mark.parametrize(("job", "rejected"), [("part_2", []), ("part_2", ["agree"])])
def test_jobs_that_are_re_run_alone_are_refused(job: str, rejected: list[str], tmp_path: Path, github: Reviews) -> None:
    """Act runs all jobs in one attempt: here some say that they belong to the next."""
    text = approvals()
    before, begin, after = text.partition(f"  {job}:\n")
    jobs = parsed(text)["jobs"]
    assert jobs[job]["steps"][0]["name"] == "Load the run and its workspace"
    place = after.index("        env:\n")
    text = before + begin + after[:place] + "        env:\n          GITHUB_RUN_ATTEMPT: 2\n" + after[place + 13 :]
    ran = run(tmp_path, text, github, *rejected)
    assert "An earlier attempt continued from here, and this would repeat it" in ran.summary
    assert heading(ran) == []
    assert done(tmp_path) == ["build"]


def test_a_further_attempt_is_refused(tmp_path: Path, github: Reviews) -> None:
    text = approvals()
    assert heading(run(tmp_path, text, github, "agree")) == ["STOP Not wanted"]
    again = run(tmp_path, text, github, attempt=2)
    assert "Completed steps would run again. Instead, start a new run" in again.summary
    assert done(tmp_path) == ["build", "withdraw built"]


def test_a_secret_handed_to_another_job_is_refused(tmp_path: Path, github: Reviews) -> None:
    text = compiled(gated('echo "$DEPLOY_TOKEN" > token'), {"secrets": {"DEPLOY_TOKEN": "DEPLOY_TOKEN"}})
    env = {"LOG": str(tmp_path / "log"), "ARTIFACTS": str(tmp_path / "artifacts")}
    secrets = act.TOKEN | {"DEPLOY_TOKEN": "a-long-secret-of-a-deployment"}
    ran = act.run(tmp_path, text, env=env, secrets=secrets, api_url=github.url)
    assert "the file token contains a secret" in ran.summary
    assert ran.jobs["part_1"] == "failure"
    assert not (tmp_path / "log").exists()
    assert not list((tmp_path / "artifacts").rglob("rdc-state*"))
