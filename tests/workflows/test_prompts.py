"""Prompts that an agent answers, and prompts that are approvals of a protected environment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.workflows import act
from tests.workflows.compiling import emission, parsed, steps, text_of

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
    return re.findall(r"^### (.*)$", ran.summary, re.MULTILINE)


# --- An agent ---------------------------------------------------------------------------------------------------------


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
    text = text_of(tmp_path, DOCUMENT, {"prompts": "agent", "agent": agent, "checkout": False})
    ran = act.run(tmp_path, text, env={"LOG": str(tmp_path / "log")})
    assert heading(ran) == [end]
    assert done(tmp_path) == ["build", "install built" if end[0] == "C" else "withdraw built"]


def test_what_an_agent_says_is_no_command_to_the_runner(tmp_path: Path) -> None:
    agent = (
        "cat > /dev/null; printf '::set-output name=next::s3\\n::error::no\\nx\\r::error::cr\\n##[error]no\\nYES\\n'"
    )
    text = text_of(tmp_path, DOCUMENT, {"prompts": "agent", "agent": agent, "checkout": False})
    ran = act.run(tmp_path, text, env={"LOG": str(tmp_path / "log")})
    assert heading(ran) == ["COMPLETE It is there"]
    assert not re.search(r"^\s*::error", ran.log, re.MULTILINE)
    assert "##[" not in ran.log


def test_an_agent_in_a_loop_is_asked_again(tmp_path: Path) -> None:
    document = DOCUMENT.replace("NO: GOTO Withdraw", "NO: RETRY 3 GOTO Withdraw")
    agent = 'cat > /dev/null; echo asked >> "$LOG"; [ "$(grep -c asked "$LOG")" = 3 ] && echo YES || echo NO'
    text = text_of(tmp_path, document, {"prompts": "agent", "agent": agent, "checkout": False})
    ran = act.run(tmp_path, text, env={"LOG": str(tmp_path / "log")})
    assert heading(ran) == ["COMPLETE It is there"]
    assert done(tmp_path) == ["build", "asked", "asked", "asked", "install built"]
    assert re.findall(r"Agree \| (\d) \| (\w+)", ran.summary) == [("1", "NO"), ("2", "NO"), ("3", "YES")]


# --- Approvals --------------------------------------------------------------------------------------------------------


def approvals(folder: Path, document: str = DOCUMENT) -> str:
    return text_of(folder, document, {"prompts": "environment", "checkout": False})


def rejected(text: str, job: str) -> str:
    """The workflow in which people reject: act has no environments, so the job that needs approval fails."""
    before, begin, after = text.partition(f"  {job}:\n")
    assert begin
    return before + begin + after.replace("run: |", "run: |\n          exit 1", 1)


def run(folder: Path, text: str) -> act.ActRun:
    return act.run(folder, text, env={"LOG": str(folder / "log"), "ARTIFACTS": str(folder / "artifacts")})


def test_an_approval_passes(tmp_path: Path) -> None:
    ran = run(tmp_path, approvals(tmp_path))
    assert heading(ran) == ["COMPLETE It is there"]
    assert ran.exit_code == 0
    assert done(tmp_path) == ["build", "install built"]
    rows = re.findall(r"^\| (\d)\. \w+ \| 1 \| (\w+)", ran.summary, re.MULTILINE)
    assert rows == [("1", "PASS"), ("2", "YES"), ("3", "PASS")], "the table has all parts"


def test_a_rejection_fails(tmp_path: Path) -> None:
    ran = run(tmp_path, rejected(approvals(tmp_path), "approve_s2"))
    assert heading(ran) == ["STOP Not wanted"]
    assert ran.exit_code
    assert done(tmp_path) == ["build", "withdraw built"]


def test_the_job_of_an_approval_is_protected_and_may_do_nothing(tmp_path: Path) -> None:
    jobs = parsed(approvals(tmp_path))["jobs"]
    assert list(jobs) == ["part_1", "approve_s2", "part_2"]
    assert jobs["approve_s2"]["environment"] == "approval"
    assert jobs["approve_s2"]["permissions"] == {}
    assert jobs["part_2"]["needs"] == ["part_1", "approve_s2"]


def test_nobody_is_asked_where_no_question_is_reached(tmp_path: Path) -> None:
    text = approvals(tmp_path, DOCUMENT.replace("echo built > result", "exit 4"))
    ran = run(tmp_path, text)
    assert [job for job, outcome in ran.jobs.items() if outcome == "skipped"] == ["approve_s2", "part_2"]
    assert heading(ran) == ["STOP"]


def test_two_questions_in_a_row_and_one_beside(tmp_path: Path) -> None:
    document = """\
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
    text = approvals(tmp_path, document)
    assert heading(run(tmp_path, text)) == ["COMPLETE Both"]
    assert heading(run(tmp_path, rejected(text, "approve_s2"))) == ["STOP Second"]
    assert heading(run(tmp_path, rejected(text, "approve_s1"))) == ["COMPLETE Other"]
    assert heading(run(tmp_path, rejected(rejected(text, "approve_s1"), "approve_Other"))) == ["STOP Neither"]


def test_a_question_in_a_loop_cannot_be_an_approval(tmp_path: Path) -> None:
    document = DOCUMENT.replace("NO: GOTO Withdraw", "NO: GOTO 1")
    made = emission(tmp_path, document, {"prompts": "environment"})
    assert made.text is None
    assert [(finding.code, finding.span and finding.span.line) for finding in made.diagnostics] == [("RD520", 9)]


def test_without_questions_the_option_changes_nothing(tmp_path: Path) -> None:
    document = DOCUMENT.replace("Is it good?", "```bash\ntrue\n```")
    assert approvals(tmp_path, document) == text_of(tmp_path, document, {"checkout": False})
    assert len(steps(approvals(tmp_path, document))) == 5
