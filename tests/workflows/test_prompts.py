"""Prompts that an agent answers, and prompts that are approvals of a protected environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workflows import act
from tests.workflows.compiling import emission, parsed, steps, text_of
from tests.workflows.reviews import Reviews, begin_with, reviewed, stand_in

pytestmark = pytest.mark.share(3)

DOCUMENT = """\
# Deploy

## 1. Build

```bash
echo build >> "$LOG"; echo built > result
```

## 2. Agree

Is it good?

- YES: CONTINUE
- NO: GOTO Withdraw

## 3. Install

```bash
echo "install $(cat result)" >> "$LOG"
```

- PASS: COMPLETE "It is there"

## Withdraw

```bash
echo "withdraw $(cat result)" >> "$LOG"
```

- PASS: STOP "Not wanted"
"""


def done(folder: Path) -> list[str]:
    return (folder / "log").read_text(encoding="utf-8").splitlines()


def heading(ran: act.ActRun) -> list[str]:
    """How a run has ended; that a part waited for an approval is told too."""
    found = re.findall(r"^### (.*)$", ran.summary, re.MULTILINE)
    return [line for line in found if not line.startswith("WAITING ")]


# --- An agent ---------------------------------------------------------------------------------------------------------


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("agent", "end"),
    [
        ("cat > /dev/null; printf 'I looked.\\n\\n**Yes**\\n\\n'", "COMPLETE It is there"),
        ("cat > /dev/null; echo PASS", "COMPLETE It is there"),
        ("cat > /dev/null; echo no.", "STOP Not wanted"),
        ("cat > /dev/null; echo Perhaps", "STOP Not wanted"),
        ("cat > /dev/null; echo PASS; exit 3", "STOP Not wanted"),
        ("grep -q 'Is it good' && echo YES", "COMPLETE It is there"),
    ],
)
def test_the_last_line_of_an_agent_decides(agent: str, end: str, tmp_path: Path) -> None:
    text = text_of(tmp_path, DOCUMENT, {"prompts": "agent", "agent": agent, "checkout": False, "summary": True})
    ran = act.run(tmp_path, text, env={"LOG": str(tmp_path / "log")})
    assert heading(ran) == [end]
    assert done(tmp_path) == ["build", "install built" if end[0] == "C" else "withdraw built"]


def test_what_an_agent_says_is_no_command_to_the_runner(tmp_path: Path) -> None:
    agent = (
        "cat > /dev/null; printf '::set-output name=next::s3\\n::error::no\\nx\\r::error::cr\\n##[error]no\\nYES\\n'"
    )
    text = text_of(tmp_path, DOCUMENT, {"prompts": "agent", "agent": agent, "checkout": False, "summary": True})
    ran = act.run(tmp_path, text, env={"LOG": str(tmp_path / "log")})
    assert heading(ran) == ["COMPLETE It is there"]
    held = re.sub(r"::stop-commands::(rdc-\w+)\n.*?::\1::", "", ran.log, flags=re.DOTALL)
    assert "::error::no" in ran.log
    assert "::error" not in held
    assert "##[" not in held


def test_an_agent_in_a_loop_is_asked_again(tmp_path: Path) -> None:
    document = DOCUMENT.replace("NO: GOTO Withdraw", "NO: RETRY 3 GOTO Withdraw")
    agent = 'cat > /dev/null; echo asked >> "$LOG"; [ "$(grep -c asked "$LOG")" = 3 ] && echo YES || echo NO'
    text = text_of(tmp_path, document, {"prompts": "agent", "agent": agent, "checkout": False, "summary": True})
    ran = act.run(tmp_path, text, env={"LOG": str(tmp_path / "log")})
    assert heading(ran) == ["COMPLETE It is there"]
    assert done(tmp_path) == ["build", "asked", "asked", "asked", "install built"]
    assert re.findall(r"Agree \| (\d) \| (\w+)", ran.summary) == [("1", "NO"), ("2", "NO"), ("3", "YES")]


# --- Approvals --------------------------------------------------------------------------------------------------------


def approvals(folder: Path, document: str = DOCUMENT) -> str:
    return text_of(folder, document, {"prompts": "environment", "checkout": False, "summary": True})


@pytest.fixture
def github() -> Iterator[Reviews]:
    with stand_in() as reviews:
        yield reviews


def asking(text: str) -> dict[str, str]:
    """The job that is the approval of each question, by the step that puts it."""
    jobs = parsed(text)["jobs"].items()
    return {name.removeprefix("approve_"): name for name, job in jobs if job.get("environment") == "approval"}


def run(folder: Path, text: str, github: Reviews | None = None, *rejected: str, attempt: int = 1) -> act.ActRun:
    """Run a workflow whose questions people approve, except for those of some jobs."""
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
    ran = run(tmp_path, approvals(tmp_path), github)
    assert heading(ran) == ["COMPLETE It is there"]
    assert ran.exit_code == 0
    assert done(tmp_path) == ["build", "install built"]
    rows = re.findall(r"^\| (\d)\. \w+ \| 1 \| (\w+)", ran.summary, re.MULTILINE)
    assert rows == [("1", "PASS"), ("2", "YES"), ("3", "PASS")], "the table has all parts"


def test_a_rejection_fails(tmp_path: Path, github: Reviews) -> None:
    ran = run(tmp_path, approvals(tmp_path), github, "agree")
    assert heading(ran) == ["STOP Not wanted"]
    assert ran.exit_code
    assert done(tmp_path) == ["build", "withdraw built"]


def test_the_job_of_an_approval_is_protected_and_may_only_look(tmp_path: Path) -> None:
    jobs = parsed(text_of(tmp_path, DOCUMENT, {"prompts": "environment"}))["jobs"]
    assert [job.get("environment") for job in jobs.values()] == [None, "approval", None]
    assert [job.get("permissions", {}) for job in jobs.values()] == [
        {"contents": "read", "actions": "read"},
        {},
        {"contents": "read", "actions": "read"},
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
    document = DOCUMENT.replace("echo built > result", f'{steal}; {trap} >> "$GITHUB_ENV"')
    ran = unasked(tmp_path, approvals(tmp_path, document), github)
    assert ran.jobs["part_1"] == "failure", "a command has no $GITHUB_ENV"
    plain = document.replace(' >> "$GITHUB_ENV"', "")
    assert unasked(tmp_path, approvals(tmp_path, plain), github).jobs["part_1"] == "success"
    assert not any("the-token" in line for line in done(tmp_path))


def test_nobody_is_asked_where_no_question_is_reached(tmp_path: Path, github: Reviews) -> None:
    text = approvals(tmp_path, DOCUMENT.replace("echo built > result", "exit 4"))
    ran = run(tmp_path, text, github)
    assert [job for job, outcome in ran.jobs.items() if outcome == "skipped"] == ["approve_agree", "part_2"]
    assert heading(ran) == ["STOP"]


TWO = """\
# Deploy

## 1. First

Go?

- NO: GOTO Other

## 2. Second

Sure?

- YES: COMPLETE Both
- NO: STOP Second

## Other

Anyway?

- YES: COMPLETE Other
- NO: STOP Neither
"""


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
def test_two_questions_in_a_row_and_one_beside(rejected: list[str], end: str, tmp_path: Path, github: Reviews) -> None:
    assert heading(run(tmp_path, approvals(tmp_path, TWO), github, *rejected)) == [end]


def test_an_environment_without_reviewers_approves_nothing(tmp_path: Path, github: Reviews) -> None:
    """GitHub creates an environment that is not there, and lets its jobs pass."""
    ran = unasked(tmp_path, approvals(tmp_path), github)
    assert (ran.jobs["approve_agree"], ran.jobs["part_2"]) == ("success", "failure")
    assert "no review of the environment approval. No one has decided, or it has no required reviewers" in ran.summary
    assert heading(ran) == [], "no end was reached"
    assert done(tmp_path) == ["build"]


@pytest.mark.share(3)
@pytest.mark.parametrize("before", [["approved"], ["rejected"], ["approved", "rejected"]])
def test_an_earlier_review_is_no_answer(before: list[str], tmp_path: Path, github: Reviews) -> None:
    """The reviews of earlier questions, and of earlier attempts of the run."""
    for state in before:
        github.decide(state)
    text = approvals(tmp_path)
    assert heading(unasked(tmp_path, text, github)) == []
    assert heading(unasked(tmp_path, begin_with(text, "approve_agree", ["exit 1"]), github)) == []
    assert done(tmp_path) == ["build", "build"]
    assert heading(run(tmp_path, text, github)) == ["COMPLETE It is there"]
    assert heading(run(tmp_path, text, github, "agree")) == ["STOP Not wanted"]


def test_the_review_of_another_environment_is_no_answer(tmp_path: Path, github: Reviews) -> None:
    github.environment = "production"
    assert heading(run(tmp_path, approvals(tmp_path), github)) == []
    github.environment = "APPROVAL"
    assert heading(run(tmp_path, approvals(tmp_path), github)) == ["COMPLETE It is there"], "GitHub ignores case"


def test_a_failure_that_nobody_has_decided_is_no_rejection(tmp_path: Path, github: Reviews) -> None:
    """After 30 days, by a rule of the environment, or without its runner the job of an approval fails too."""
    ran = unasked(tmp_path, begin_with(approvals(tmp_path), "approve_agree", ["exit 1"]), github)
    assert heading(ran) == []
    assert ran.exit_code
    assert "no review of the environment approval. No one has decided" in ran.summary
    assert done(tmp_path) == ["build"]


def test_a_rejection_does_not_answer_the_next_question(tmp_path: Path, github: Reviews) -> None:
    text = approvals(tmp_path, TWO)
    jobs = asking(text)
    text = begin_with(text, jobs["Other"], ["exit 1"])
    ran = unasked(tmp_path, reviewed(text, "echo rejected", jobs["first"]), github)
    assert heading(ran) == []
    assert "no review of the environment approval. No one has decided" in ran.summary


def test_without_the_api_nobody_is_asked(tmp_path: Path) -> None:
    ran = run(tmp_path, approvals(tmp_path))
    assert (ran.jobs["part_1"], ran.jobs["approve_agree"], ran.jobs["part_2"]) == ("failure", "skipped", "skipped")
    assert "The reviews of this run cannot be read" in ran.summary


def test_each_part_hands_on_its_own_state(tmp_path: Path, github: Reviews) -> None:
    text = approvals(tmp_path, TWO)
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
    text = approvals(tmp_path)
    before, begin, after = text.partition(f"  {job}:\n")
    jobs = parsed(text)["jobs"]
    assert jobs[job]["steps"][0]["name"] == "Load the run and its workspace"
    place = after.index("        env:\n")
    text = before + begin + after[:place] + "        env:\n          GITHUB_RUN_ATTEMPT: 2\n" + after[place + 13 :]
    ran = run(tmp_path, text, github, *rejected)
    assert "An earlier attempt continued from here, and this would repeat it" in ran.summary
    assert heading(ran) == []
    assert done(tmp_path) == ["build"]


def test_all_jobs_may_be_re_run(tmp_path: Path, github: Reviews) -> None:
    text = approvals(tmp_path)
    assert heading(run(tmp_path, text, github, "agree")) == ["STOP Not wanted"]
    assert heading(run(tmp_path, text, github, attempt=2)) == ["COMPLETE It is there"]
    assert heading(unasked(tmp_path, text, github, attempt=3)) == [], "the review was for another attempt"


def test_a_question_in_a_loop_cannot_be_an_approval(tmp_path: Path) -> None:
    document = DOCUMENT.replace("NO: GOTO Withdraw", "NO: GOTO 1")
    made = emission(tmp_path, document, {"prompts": "environment"})
    assert made.text is None
    assert [(finding.code, finding.span and finding.span.line) for finding in made.diagnostics] == [("RD520", 9)]


def below(text: str) -> str:
    """A workflow without the command in its header."""
    return text[text.index("\nname:") :]


def test_without_questions_the_option_changes_nothing(tmp_path: Path) -> None:
    document = DOCUMENT.replace("Is it good?", "```bash\ntrue\n```")
    without = text_of(tmp_path, document, {"checkout": False, "summary": True})
    assert below(approvals(tmp_path, document)) == below(without)
    assert len(steps(approvals(tmp_path, document))) == 7
