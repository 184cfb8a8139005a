"""The option `notify-issue`: an issue for a run that waits, which the run that continues it closes."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from runtime_shim.publish import publisher
from runtime_shim.targets.github.messages import as_word
from tests.backends.github.continued import DOCUMENT, Run, ending
from tests.backends.github.walking import Clean
from tests.support.actions_engine import complaints
from tests.support.github.compiling import emission, parsed
from tests.support.hostile_texts import NASTY
from tests.support.runbooks import command, question

pytestmark = pytest.mark.process

NOTIFIED = {"notify-issue": True}
LOUD = "@owner/team closes #1 ![x](http://x) ``` <img> ${{ github.token }} $(id)"


def issues(run: Run, state: str = "open") -> list[dict[str, Any]]:
    path = run.place / "history" / "issues.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [one for one in found if one["state"] == state]


def test_an_issue_has_the_question_the_replies_and_their_commands(tmp_path: Path) -> None:
    run = Run(tmp_path, DOCUMENT, NOTIFIED)
    assert ending(run()) == "WAITING 3"
    (issue,) = issues(run)
    assert issue["title"] == "Deploy waits at 3. Agree"
    assert issue["body"].startswith("<!-- rdc: run 1 -->\nFrom [this run](https://github.com/owner/repository/actions/")
    assert "\nIs the build good?\n" in issue["body"]
    command = "gh workflow run runbook.yml --ref main -f resume=1 -f answers='3 no'"
    assert f"\nNO: STOP Not wanted\n    {command}\n" in issue["body"]


def test_a_run_that_comes_to_no_question_opens_no_issue(tmp_path: Path) -> None:
    document = command("1. Build", "exit 1", "FAIL: STOP") + question("2. Good?", "", "YES: COMPLETE", "NO: STOP")
    assert Run(tmp_path, f"# A\n\n{document}", NOTIFIED)().jobs["notify_issue"].result == "skipped"


def test_the_run_that_continues_closes_the_issue_and_opens_the_next(tmp_path: Path) -> None:
    run = Run(tmp_path, DOCUMENT, NOTIFIED)
    run()
    path = tmp_path / "history" / "issues.json"
    others: list[dict[str, Any]] = [
        {"body": "about <!-- rdc: run 1 -->"},
        {"body": "<!-- rdc: run 11 -->\n"},
        {"body": None},
    ]
    bot = {"login": "github-actions[bot]"}
    found = [{**one, "number": 7 + at, "state": "open", "user": bot} for at, one in enumerate(others)]
    forged = {**issues(run)[0], "number": 10, "user": {"login": "mallory"}}
    path.write_text(json.dumps([*found, forged, *issues(run)]), encoding="utf-8")
    assert (run(resume="1", answers="5 yes").jobs["notify_issue"].result, issues(run, "closed")) == ("skipped", [])
    assert ending(run(resume="1", answers="yes")) == "WAITING 5"
    assert [one["number"] for one in issues(run, "closed")] == [1]
    assert issues(run)[-1]["title"] == "Deploy waits at 5. Does it work?"
    last = run(resume="3", answers="yes")
    assert (ending(last), last.exit_code) == ("COMPLETE All is well", 0)
    assert [one["number"] for one in issues(run)] == [7, 8, 9, 10]


@pytest.mark.soak
def test_runs_with_several_jobs_open_an_issue_too(tmp_path: Path) -> None:
    document = "# A\n\n" + command("1. Build", "true") + command("2. Ship", "true")
    document += question("3. Does it work?", "", "YES: COMPLETE", "NO: STOP")
    run = Run(tmp_path, document, {**NOTIFIED, "steps": {"2": {"environment": "production"}}})
    assert len(parsed(run.text)["jobs"]) > 2
    assert ending(run()).startswith("WAITING 3")
    assert [one["title"] for one in issues(run)] == ["A waits at 3. Does it work?"]
    assert (run(resume="1", answers="yes").exit_code, issues(run)) == (0, [])


def test_only_the_last_job_may_write_issues_and_nothing_else_starts_the_workflow(tmp_path: Path) -> None:
    plain, notified = (Run(tmp_path, DOCUMENT, options).text for options in ({}, NOTIFIED))
    jobs = parsed(notified)["jobs"]
    assert list(jobs)[-1] == "notify_issue"
    assert jobs["notify_issue"]["permissions"] == {"contents": "read", "issues": "write"}
    assert [name for name, one in jobs.items() if "issues" in one["permissions"]] == ["notify_issue"]
    assert parsed(plain)["on"] == parsed(notified)["on"]
    assert "secrets." not in json.dumps(jobs["notify_issue"])
    text = Run(tmp_path, DOCUMENT, {**NOTIFIED, "on": ["pull_request"]}).text
    of_a_fork = "head.repo.full_name == github.repository"
    assert of_a_fork in parsed(text)["jobs"]["notify_issue"]["if"], "a pull request from a fork opens no issue"


def test_no_linter_finds_anything(tmp_path: Path, clean: Clean) -> None:
    document = DOCUMENT.replace("Agree", LOUD.replace("{{", "{ {"))
    for options in ({}, {"on": ["pull_request", "push"]}, {"carry": False}, {"runtime": "inline", "checkout": False}):
        text = Run(tmp_path, document, {**NOTIFIED, **options}).text
        clean(text)
        assert complaints(text) == []


def test_it_needs_a_question_that_people_answer_with_a_command(tmp_path: Path) -> None:
    asks = question("1. Good?", "", "YES: COMPLETE", "NO: STOP")
    for document, options in (
        (asks, {"prompts": "environment"}),
        (asks, {"prompts": "agent", "agent": "llm"}),
        (command("1. Build", "true"), {"prompts": None}),
    ):
        found = emission(tmp_path, f"# A\n\n{document}", {**options, **NOTIFIED})
        assert (found.text, [one.code for one in found.diagnostics]) == (None, ["RD013"])


@pytest.mark.parametrize("text", [*NASTY, LOUD, "a\n```\n# B\n@x", "`" * 50, "\u202ereversed", "/deploy"])
def test_titles_and_questions_are_data(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: list[dict[str, str]] = []

    def ask(_method: str, _path: str, body: dict[str, str]) -> dict[str, int]:
        bodies.append(body)
        return {"number": 1}

    monkeypatch.setattr(publisher, "ask", ask)
    facts = {"REPOSITORY": "o/r", "RUN_ID": "1", "SERVER_URL": "https://github.com"}
    given = {"ISSUE": as_word([text, text]), "RESUMED": ""} | {f"GITHUB_{name}": facts[name] for name in facts}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert re.fullmatch("[A-Za-z0-9_-]*", as_word([text, text]))
    publisher.issue("", b"")
    (body,) = bodies
    assert not re.search(r"[\n@#](?=\w)|!\[|<\w", body["title"])
    head, fence, *rest = re.split(r"^(`{3,})$", body["body"], flags=re.MULTILINE, maxsplit=1)
    assert head.count("\n") == 3
    inside, end = "".join(rest).rsplit("\n", 1)
    assert end == fence
    assert fence not in inside, "nothing in the block ends it"
    assert not re.search("[\u202a-\u202e\x1b\x00]", body["body"])


@pytest.mark.parametrize("word", ["!", "abc", base64.b64encode(b"{}").decode(), base64.b64encode(b"[1]").decode(), "5"])
def test_a_damaged_question_opens_no_issue(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISSUE", word)
    monkeypatch.setenv("RESUMED", "1; rm -rf /")
    assert publisher.published("issue") == 1
