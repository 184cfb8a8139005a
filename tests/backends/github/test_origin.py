"""Only a run of this workflow on this branch is continued: GitHub is asked before anything of it is fetched."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from runtime_shim.targets.github import api
from runtime_shim.targets.github.api import HaltError, check_run
from tests.backends.github.continued import DONE, WORKFLOW, Run, ending, outcomes
from tests.support.github.api import COMMIT, run_of, serving
from tests.support.github.api import WORKFLOW as PATH

pytestmark = pytest.mark.process

OTHER = {"full_name": "stranger/repository"}
EARLIER = "ab" * 20
EVENTS = ["push", "pull_request", "workflow_dispatch"]
FACTS = {
    "GITHUB_REPOSITORY": "owner/repository",
    "GITHUB_WORKFLOW_REF": WORKFLOW,
    "GITHUB_REF_NAME": "main",
    "GITHUB_SHA": COMMIT,
}


@pytest.fixture(autouse=True)
def _on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FACTS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(api, "PAUSES", ())


def asked_of(
    monkeypatch: pytest.MonkeyPatch, status: int, body: str, compared: tuple[int, object] = (404, {}), run: str = "1"
) -> list[tuple[str, str]]:
    """Check a run about which GitHub answers this; return the paths that it was asked for, and by whom."""
    with serving({1: (status, body)}, compared) as github:
        monkeypatch.setenv("GITHUB_API_URL", github.url)
        try:
            check_run(api.Api("the-token"), run, EVENTS)
        finally:
            asked = github.asked
    return asked


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"event": "push"},
        {"event": "pull_request"},
        {"path": f"{PATH}@refs/heads/main"},
        {"repository": {"full_name": "Owner/Repository"}},
    ],
)
def test_a_run_of_the_same_workflow_may_go_on(facts: Mapping[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_of(monkeypatch, 200, json.dumps(run_of(1, **facts)))
    assert asked == [("/repos/owner/repository/actions/runs/1", "Bearer the-token")]


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"repository": OTHER}, "it belongs to another repository"),
        ({"id": 2}, "it belongs to another repository"),
        ({"head_repository": OTHER}, "it was started from a fork"),
        ({"head_repository": None}, "it was started from a fork"),
        ({"path": ".github/workflows/other.yml"}, f"it is not a run of {PATH}"),
        ({"path": f"{PATH}x"}, "it is not a run of"),
        ({"head_branch": "feature"}, "it did not run on main"),
        ({"head_branch": None}, "it did not run on main"),
        ({"status": "waiting"}, "it has not ended"),
        ({"status": "in_progress"}, "it has not ended"),
        ({"event": "issues"}, "it was started by an event that this workflow does not have"),
        ({"event": "workflow"}, "it was started by an event that this workflow does not have"),
    ],
)
def test_another_run_is_refused(facts: Mapping[str, object], problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HaltError, match=f"Run 1 cannot be continued: {problem}"):
        asked_of(monkeypatch, 200, json.dumps(run_of(1, **facts)))


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (404, '{"message": "Not Found"}', "This repository has no run 1"),
        (403, "{}", "needs the permission `actions: read`"),
        (410, "{}", r"GitHub did not answer whether run 1 can be continued \(HTTP 410\)"),
        (200, "<html>", "GitHub gave an unexpected answer about run 1"),
        (200, "", "GitHub gave an unexpected answer about run 1"),
        (200, "[]", "GitHub gave an unexpected answer about run 1"),
        (200, "{}", "Run 1 cannot be continued"),
        (200, json.dumps(run_of(1, head_sha="../x")), "GitHub gave an unexpected answer about run 1"),
        (200, json.dumps(run_of(1, head_sha=None)), "GitHub gave an unexpected answer about run 1"),
    ],
)
def test_without_a_clear_answer_no_run_goes_on(
    status: int, body: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(HaltError, match=problem):
        asked_of(monkeypatch, status, body)


@pytest.mark.parametrize("status", ["ahead", "identical"])
def test_a_run_of_an_earlier_commit_of_the_branch_may_go_on(status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_of(monkeypatch, 200, json.dumps(run_of(1, head_sha=EARLIER)), (200, {"status": status}))
    assert asked[1][0] == f"/repos/owner/repository/compare/{EARLIER}...{COMMIT}?per_page=1"


@pytest.mark.parametrize(
    ("compared", "problem"),
    [
        ((200, {"status": "diverged"}), f"Run 1 cannot be continued: its commit {EARLIER} is not on main"),
        ((200, {"status": "behind"}), "is not on main. Start a new run"),
        ((404, {}), "is not on main. Start a new run"),
        ((403, {}), "needs the permission `contents: read`"),
        ((200, {}), "GitHub did not answer whether main has the commit of run 1"),
        ((200, "<html>"), "GitHub did not answer whether main has the commit of run 1"),
        ((500, {}), r"GitHub did not answer whether main has the commit of run 1 \(HTTP 500\)"),
    ],
)
def test_a_tag_with_the_name_of_the_branch_is_refused(
    compared: tuple[int, object], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GitHub says `main` of a run on the tag `main` too, and whoever may push a tag chooses its commit."""
    with pytest.raises(HaltError, match=problem):
        asked_of(monkeypatch, 200, json.dumps(run_of(1, head_sha=EARLIER)), compared)


def test_without_a_connection_no_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    with pytest.raises(HaltError, match=r"can be continued \(HTTP 000\)\. Try again later"):
        check_run(api.Api("the-token"), "1", EVENTS)


@pytest.mark.parametrize("resume", ["1/../2", "1?x", "-1", "01", "abc", "$(id)", "1 ", "9" * 20])
def test_what_is_no_number_is_not_asked_for(resume: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HaltError, match="The input `resume` is not the number of a run"):
        asked_of(monkeypatch, 200, "{}", run=resume)


def test_a_foreign_run_is_refused_before_anything_of_it_is_fetched(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert ending(run()) == "WAITING 3"
    for facts, resume, problem in (
        ({"head_branch": "feature"}, "1", "Run 1 cannot be continued: it did not run on main"),
        ({}, "$(id)", "The input `resume` is not the number of a run"),
    ):
        run.alter(1, **facts)
        ran = run(resume=resume, answers="yes")
        assert problem in ran.summary
        assert outcomes(ran)["Check the waiting run"] == "failure"
        assert outcomes(ran)["Load the waiting run with its workspace"] == "skipped"
    assert run.done() == DONE


def test_no_tool_of_the_runner_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step may have put another tar, git or curl first on the path, and a job its configuration."""
    run = Run(tmp_path)
    assert ending(run()) == "WAITING 3"
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in os.environ["PATH"].split(":"):
        for tool in Path(folder).iterdir() if Path(folder).is_dir() else ():
            if tool.name not in {"jq", "curl", "git", "tar", "gzip"} and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    monkeypatch.setenv("PATH", str(tools))
    assert ending(run(resume="1", answers="yes")) == "WAITING 5"
