"""Only a run of this workflow on this branch is continued: GitHub is asked before anything of it is fetched."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.backends.github.test_continuation import DOCUMENT, Run, said
from tests.support.github import act
from tests.support.github.api import COMMIT, WORKFLOW, run_of, serving

pytestmark = pytest.mark.share(3)

FETCH = "Load the waiting run with its workspace"
OTHER = {"full_name": "stranger/repository"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "repository").mkdir()
    return Run(tmp_path / "repository", options={"on": ["push", "pull_request"]})


def waiting(run: Run) -> list[str]:
    """Lets a run wait, and gives what was done until then."""
    assert said(run()) == "WAITING 3"
    return run.done()


def refused(run: Run, ran: act.ActRun, problem: str, done: list[str]) -> None:
    assert ran.exit_code
    assert problem in ran.summary
    assert ran.outcomes["Check the waiting run"] == "failure"
    assert ran.outcomes[FETCH] == "skipped"
    assert run.done() == done


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "other",
    [
        {},
        {"event": "push"},
        {"event": "pull_request"},
        {"path": f"{WORKFLOW}@refs/heads/main"},
        {"repository": {"full_name": "Owner/Repository"}},
    ],
)
def test_a_run_of_the_same_workflow_goes_on(run: Run, other: dict[str, object]) -> None:
    waiting(run)
    with serving({1: (200, json.dumps(run_of(1, **other)))}) as api:
        run.api = api.url
        assert said(run(resume="1", answers="3 yes")) == "WAITING 5"
    assert {token for _, token in api.asked} == {f"Bearer {act.TOKEN['GITHUB_TOKEN']}"}
    asked = "/repos/owner/repository/actions/runs/1"
    assert [path for path, _ in api.asked] == [asked, f"{asked}/artifacts?per_page=100"]


@pytest.mark.share(6)
@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"repository": OTHER}, "it belongs to another repository"),
        ({"id": 2}, "it belongs to another repository"),
        ({"head_repository": OTHER}, "it was started from a fork"),
        ({"head_repository": None}, "it was started from a fork"),
        ({"path": ".github/workflows/other.yml"}, f"it is not a run of {WORKFLOW}"),
        ({"path": f"{WORKFLOW}x"}, "it is not a run of"),
        ({"head_branch": "feature"}, "it did not run on main"),
        ({"head_branch": None}, "it did not run on main"),
        ({"status": "waiting"}, "it has not ended"),
        ({"status": "in_progress"}, "it has not ended"),
        ({"event": "issues"}, "it was started by an event that this workflow does not have"),
        ({"event": "workflow"}, "it was started by an event that this workflow does not have"),
    ],
)
def test_another_run_is_refused_before_it_is_fetched(run: Run, other: dict[str, object], problem: str) -> None:
    done = waiting(run)
    with serving({1: (200, json.dumps(run_of(1, **other)))}) as api:
        run.api = api.url
        refused(run, run(resume="1", answers="yes"), f"Run 1 cannot be continued: {problem}", done)


@pytest.mark.share(5)
@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (404, '{"message": "Not Found"}', "This repository has no run 1"),
        (403, "{}", "needs the permission `actions: read`"),
        (410, "{}", "GitHub did not answer whether run 1 can be continued (HTTP 410)"),
        (200, "<html>", "GitHub gave an unexpected answer about run 1"),
        (200, "", "GitHub gave an unexpected answer about run 1"),
        (200, "[]", "GitHub gave an unexpected answer about run 1"),
        (200, "{}", "Run 1 cannot be continued"),
        (200, json.dumps(run_of(1, head_sha="../x")), "GitHub gave an unexpected answer about run 1"),
        (200, json.dumps(run_of(1, head_sha=None)), "GitHub gave an unexpected answer about run 1"),
    ],
)
def test_without_a_clear_answer_nothing_is_fetched(run: Run, status: int, body: str, problem: str) -> None:
    done = waiting(run)
    with serving({1: (status, body)}) as api:
        run.api = api.url
        refused(run, run(resume="1", answers="yes"), problem, done)


EARLIER = "ab" * 20


@pytest.mark.share(3)
@pytest.mark.parametrize("status", ["ahead", "identical"])
def test_a_run_of_an_earlier_commit_of_the_branch_goes_on(run: Run, status: str) -> None:
    waiting(run)
    with serving({1: (200, json.dumps(run_of(1, head_sha=EARLIER)))}, (200, {"status": status})) as api:
        run.api = api.url
        assert said(run(resume="1", answers="3 yes")) == "WAITING 5"
    assert api.asked[1][0] == f"/repos/owner/repository/compare/{EARLIER}...{COMMIT}?per_page=1"


@pytest.mark.share(6)
@pytest.mark.parametrize(
    ("compared", "problem"),
    [
        ((200, {"status": "diverged"}), f"Run 1 cannot be continued: its commit {EARLIER} is not on main"),
        ((200, {"status": "behind"}), "is not on main. Start a new run"),
        ((404, {}), "is not on main. Start a new run"),
        ((403, {}), "needs the permission `contents: read`"),
        ((200, {}), "GitHub did not answer whether main has the commit of run 1"),
        ((200, "<html>"), "GitHub did not answer whether main has the commit of run 1"),
        ((500, {}), "GitHub did not answer whether main has the commit of run 1 (HTTP 500)"),
    ],
)
def test_a_tag_with_the_name_of_the_branch_is_refused(run: Run, compared: tuple[int, object], problem: str) -> None:
    """GitHub says `main` of a run on the tag `main` too, and whoever may push a tag chooses its commit."""
    done = waiting(run)
    with serving({1: (200, json.dumps(run_of(1, head_sha=EARLIER)))}, compared) as api:
        run.api = api.url
        refused(run, run(resume="1", answers="yes"), problem, done)


@pytest.mark.share(3)
@pytest.mark.parametrize("place", [".curlrc", ".config/curlrc"])
def test_a_configuration_of_curl_does_not_get_the_token(run: Run, tmp_path: Path, place: str) -> None:
    """Somebody else's job may have left one on the runner."""
    waiting(run)
    path = tmp_path / "home" / place
    path.parent.mkdir(parents=True)
    path.write_text(f'trace-ascii = "{tmp_path}/trace"\n', encoding="utf-8")
    run.text = run.text.replace("          RDC_EVENTS: ", f"          HOME: {tmp_path}/home\n          RDC_EVENTS: ")
    assert said(run(resume="1", answers="3 yes")) == "WAITING 5"
    assert not (tmp_path / "trace").exists()


def test_without_a_connection_nothing_is_fetched(run: Run) -> None:
    done = waiting(run)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        run.api = f"http://127.0.0.1:{unused.getsockname()[1]}"
        refused(run, run(resume="1", answers="yes"), "can be continued (HTTP 000). Try again later", done)


@pytest.mark.share(5)
@pytest.mark.parametrize("resume", ["1/../2", "1?x", "-1", "01", "abc", "$(id)", "1 ", "9" * 20])
def test_what_is_no_number_is_not_asked_for(run: Run, resume: str) -> None:
    done = waiting(run)
    with serving() as api:
        run.api = api.url
        refused(run, run(resume=resume), "The input `resume` is not the number of a run", done)
        assert api.asked == []


def test_no_tool_of_the_runner_is_needed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step may have put another tar, git or curl first on the path."""
    waiting(run)
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in ("/usr/bin", "/bin"):
        for tool in Path(folder).iterdir():
            if tool.name not in {"jq", "curl", "tar", "gzip"} and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    monkeypatch.setenv("PATH", str(tools))
    assert said(run(resume="1", answers="yes")) == "WAITING 5"


def test_a_workflow_that_others_call_has_only_the_events_of_its_own(tmp_path: Path) -> None:
    run = Run(tmp_path, DOCUMENT, {"on": ["workflow_call", "push"]})
    assert "RDC_EVENTS: push workflow_dispatch\n" in run.text
