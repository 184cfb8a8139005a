"""A run that waits for an answer continues in another run of the same workflow and branch, and repeats no step."""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from runtime_shim.targets.github import api
from runtime_shim.targets.github.api import HaltError, check_run
from runtime_shim.targets.github.saved_run import check_kept
from tests.backends.github.continued import DOCUMENT, DONE, WORKFLOW, Run, ending, outcomes
from tests.support.actions_engine import EngineRun
from tests.support.github.api import COMMIT, run_of, serving
from tests.support.github.api import WORKFLOW as PATH
from tests.support.github.compiling import parsed

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, EngineRun]:
    """A run that waits at its first question, for all tests of this module."""
    run = Run(tmp_path_factory.mktemp("first"))
    return run, run()


@pytest.fixture
def run(first: tuple[Run, EngineRun], tmp_path: Path) -> Run:
    return first[0].copy(tmp_path)


def test_each_question_is_answered_after_it_was_shown_and_no_continuation_is_repeated(run: Run) -> None:
    """ "Re-run jobs" has the inputs of the first attempt: the state that it took over is that of another time."""
    assert ending(run(resume="1", answers="yes")) == "WAITING 5"
    again = run(again=True, resume="1", answers="yes")
    assert ending(again) == ""
    assert "Completed steps would run again. Instead, start this workflow with the input `resume`: 2" in again.summary
    assert ending(run(resume="2", answers="5 no")) == "WAITING 3"
    last = run(resume="3", answers="3 no")
    assert ending(last) == "STOP Not wanted"
    rows = re.findall(r"^\| [\d:]+ \| ([\w ]+)\??(?:, attempt (\d))? \| \**(\w+)\**[ ,]", last.summary, re.MULTILINE)
    assert rows == [
        ("1 Build", "", "PASS"), ("2 Count", "", "FAIL"), ("2 Count", "2", "PASS"), ("3 Agree", "", "YES"),
        ("4 Install", "", "PASS"), ("5 Does it work", "", "NO"), ("3 Agree", "", "NO"),
    ], "the table has what ran before"  # fmt: skip
    assert run.done() == [*DONE, "1 install hello ran built"]


def test_the_summary_says_how_to_go_on(first: tuple[Run, EngineRun]) -> None:
    _, ran = first
    assert (ending(ran), ran.exit_code) == ("WAITING 3", 1)
    assert "### WAITING 3" in ran.summary
    assert "    Is the build good?\n" in ran.summary
    assert "    gh workflow run runbook.yml --ref main -f resume=1 -f answers='3 yes'\n" in ran.summary
    assert "called this one" not in ran.summary
    assert "| 2 Count, attempt 2 | PASS |" in ran.summary
    assert "3 Agree |" not in ran.summary, "it has no outcome yet"


def test_a_question_that_has_expired_fails_in_the_next_run(tmp_path: Path) -> None:
    settings = '---\nrdc: {steps: {"1": {expire: 1s}}}\n---\n\n'
    run = Run(tmp_path, settings + '## 1\n\nIs it good?\n\n- PASS: COMPLETE\n- FAIL: STOP "Too late"\n')
    assert ending(run()) == "WAITING 1"
    time.sleep(1)
    assert ending(run(resume="1", answers="1 pass")) == "STOP Too late"


@pytest.mark.soak
def test_a_run_that_starts_at_a_limited_step_goes_on(tmp_path: Path) -> None:
    settings = '---\nrdc: {steps: {"1": {max-visits: 1, then: STOP "enough"}}}\n---\n\n'
    run = Run(tmp_path, settings + "## 1\n\nGood?\n\n- YES: COMPLETE\n- NO: GOTO 2\n\n## 2\n\nOn?\n\n- PASS: GOTO 1\n")
    assert (ending(run()), ending(run(resume="1", answers="no"))) == ("WAITING 1", "WAITING 2")
    last = run(resume="2", answers="2 pass")
    assert (ending(last), "--max-visits" in last.summary) == ("STOP enough", False), last


ASKS = "## 1\n\nIs it good?\n\nTRANSITIONS\n"


def test_a_pull_request_goes_on_at_its_branch_and_that_of_a_fork_nowhere(tmp_path: Path) -> None:
    run = Run(tmp_path, ASKS.replace("TRANSITIONS", "- NO: STOP"), {"on": ["pull_request", "push"]})
    head, facts = {"ref": "a$(id)b", "repo": {"full_name": "owner/repository"}}, {"head_ref": "a$(id)b"}
    own = run(event="pull_request", payload={"pull_request": {"number": 12, "head": head}}, facts=facts)
    assert "--ref 'a$(id)b' -f resume=1 " in own.summary
    assert "--ref main -f resume=2 " in run(event="push").summary
    payload = {"pull_request": {"head": {"ref": "main", "repo": {"full_name": "stranger/repository"}}}}
    foreign = run(event="pull_request", payload=payload).summary
    assert "This run was started from a fork, so it cannot be continued." in foreign
    assert "gh workflow run" not in foreign


def test_a_workflow_that_others_call_says_what_they_can_do(tmp_path: Path) -> None:
    document = ASKS.replace("TRANSITIONS", "- NO: STOP")
    run = Run(tmp_path, document, {"on": ["workflow_call", "workflow_dispatch", "push"]})
    assert not parsed(run.text)["on"]["workflow_call"]
    assert "If another workflow called this one, this run cannot be continued." in run().summary
    assert "RDC_EVENTS: push workflow_dispatch\n" in run.text, "runs of other events are not its own"


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("document", "word", "no"),
    [
        (ASKS.replace("TRANSITIONS", "- YES: CONTINUE\n- NO: STOP"), "yes", "NO"),
        ("## 1\n\nGood?\n\n- PASS: CONTINUE\n- FAIL: STOP\n\n## 2\n\nOn?\n\n- FAIL: GOTO 1\n", "pass", "FAIL"),
    ],
    ids=["in a row", "in a loop"],
)
def test_the_summary_suggests_an_answer_to_the_question(document: str, word: str, no: str, tmp_path: Path) -> None:
    run = Run(tmp_path, document)
    assert f"-f answers='1 {word}'\n" in run().summary
    last = run(resume="1", answers="1 fail")
    assert f"    {no}  answered by line" in last.log
    assert f"| 1 | {no}, answered by line" in last.summary


def test_the_state_of_another_version_is_refused(run: Run) -> None:
    changed = Run(run.place, DOCUMENT.replace("Is the build good?", "Is it?"))
    changed.number = run.number
    ran = changed(resume="1", answers="yes")
    assert ran.exit_code
    assert "belongs to another version of this workflow" in ran.summary
    assert run.done() == DONE


DAMAGES: dict[str, tuple[str, Callable[[bytes], bytes | None]]] = {
    "a journal that is cut off": ("state/journal", lambda content: content[:-9]),
    "a byte of the workspace": ("workspace.tar.gz", lambda content: content[:-1] + bytes([content[-1] ^ 1])),
    "no workspace": ("workspace.tar.gz", lambda _: None),
    "no journal": ("state/journal", lambda _: None),
    "no description": ("about.json", lambda _: None),
    "another description": ("about.json", lambda content: content.replace(b"journal", b"journey")),
}


@pytest.mark.parametrize(("name", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_a_saved_state_that_is_damaged_is_refused(
    first: tuple[Run, EngineRun], tmp_path: Path, name: str, damage: Callable[[bytes], bytes | None]
) -> None:
    saved = tmp_path / "saved"
    shutil.copytree(first[0].saved(), saved)
    assert check_kept(str(saved))["run"] == "1"
    content = damage((saved / name).read_bytes())
    (saved / name).unlink()
    if content is not None:
        (saved / name).write_bytes(content)
    with pytest.raises(HaltError, match=r"is damaged or incomplete\. No step ran"):
        check_kept(str(saved))


def test_an_answer_fits_the_question_that_was_shown(run: Run, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    for answers, problem in (
        ("3 maybe", "expected pass, fail, yes or no"),
        ("yes\n5 no", "expected pass, fail, yes or no"),
        ("5 yes", "The run waits at 3, so it takes no answer to 5 yet"),
        (f"$(touch {canary}) yes", "takes no answer"),
    ):
        ran = run(resume="1", answers=answers)
        assert ran.exit_code
        assert problem in ran.summary
    assert not canary.exists()
    assert run.done() == DONE


def test_a_new_run_takes_no_answers(tmp_path: Path) -> None:
    run = Run(tmp_path)
    ran = run(answers="3 yes")
    assert "An answer needs a question that a run has shown" in ran.summary
    assert (outcomes(ran)["1. Build"], run.done()) == ("skipped", [])


def test_a_further_attempt_repeats_no_completed_step(run: Run) -> None:
    assert (run.done(), ending(run(again=True)), run.done()) == (DONE, "", DONE)


OTHER = {"full_name": "stranger/repository"}
EARLIER = "ab" * 20
EVENTS = ["push", "pull_request", "workflow_dispatch"]
FACTS = {"REPOSITORY": "owner/repository", "WORKFLOW_REF": WORKFLOW, "REF_NAME": "main", "SHA": COMMIT}


@pytest.fixture(autouse=True)
def _on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FACTS.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
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
    ("facts", "compared"),
    [
        ({}, ""),
        ({"event": "push"}, ""),
        ({"event": "pull_request"}, ""),
        ({"path": f"{PATH}@refs/heads/main"}, ""),
        ({"repository": {"full_name": "Owner/Repository"}}, ""),
        ({"head_sha": EARLIER}, "ahead"),
        ({"head_sha": EARLIER}, "identical"),
    ],
)
def test_a_run_of_the_same_workflow_and_branch_may_go_on(
    facts: Mapping[str, object], compared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = asked_of(monkeypatch, 200, json.dumps(run_of(1, **facts)), (200, {"status": compared}))
    assert first == ("/repos/owner/repository/actions/runs/1", "Bearer the-token")
    comparing = [f"/repos/owner/repository/compare/{EARLIER}...{COMMIT}?per_page=1"] * bool(compared)
    assert [path for path, _ in others] == comparing


UNCLEAR = "GitHub gave an unexpected answer about run 1"


@pytest.mark.parametrize(
    ("status", "facts", "problem"),
    [
        (200, {"repository": OTHER}, "Run 1 cannot be continued: it belongs to another repository"),
        (200, {"id": 2}, "it belongs to another repository"),
        (200, {"head_repository": OTHER}, "it was started from a fork"),
        (200, {"head_repository": None}, "it was started from a fork"),
        (200, {"path": ".github/workflows/other.yml"}, f"it is not a run of {PATH}"),
        (200, {"path": f"{PATH}x"}, "it is not a run of"),
        (200, {"head_branch": "feature"}, "it did not run on main"),
        (200, {"head_branch": None}, "it did not run on main"),
        (200, {"status": "waiting"}, "it has not ended"),
        (200, {"status": "in_progress"}, "it has not ended"),
        (200, {"event": "issues"}, "it was started by an event that this workflow does not have"),
        (200, {"event": "workflow"}, "it was started by an event that this workflow does not have"),
        (200, {"head_sha": "../x"}, UNCLEAR),
        (200, {"head_sha": None}, UNCLEAR),
        (404, '{"message": "Not Found"}', "This repository has no run 1"),
        (403, "{}", "needs the permission `actions: read`"),
        (410, "{}", r"GitHub did not answer whether run 1 can be continued \(HTTP 410\)"),
        (200, "<html>", UNCLEAR),
        (200, "", UNCLEAR),
        (200, "[]", UNCLEAR),
        (200, "{}", "Run 1 cannot be continued"),
    ],
)
def test_another_run_and_one_without_a_clear_answer_are_refused(
    status: int, facts: dict[str, object] | str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = facts if isinstance(facts, str) else json.dumps(run_of(1, **facts))
    with pytest.raises(HaltError, match=problem):
        asked_of(monkeypatch, status, body)


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


def test_without_a_number_or_a_connection_no_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for resume in ("1/../2", "1?x", "-1", "01", "abc", "$(id)", "1 ", "9" * 20):
        with pytest.raises(HaltError, match="The input `resume` is not the number of a run"):
            asked_of(monkeypatch, 200, "{}", run=resume)
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    with pytest.raises(HaltError, match=r"can be continued \(HTTP 000\)\. Try again later"):
        check_run(api.Api("the-token"), "1", EVENTS)


def test_a_foreign_run_is_refused_before_anything_of_it_is_fetched(run: Run) -> None:
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


def test_it_goes_on_where_it_stood_and_needs_no_tool_of_the_runner(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step may have put another tar, git or curl first on the path, and a job its configuration."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("jq", "curl", "git", "tar", "gzip"):
        (tools / name).write_text(f'#!/bin/sh\ntouch "{tmp_path}/called"\nexit 99\n', encoding="utf-8")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    assert ending(run(resume="1", answers="yes")) == "WAITING 5"
    last = run(resume="2", answers="5 yes")
    assert (ending(last), last.exit_code) == ("COMPLETE All is well", 0)
    assert run.done() == [*DONE, "1 install hello ran built"]
    assert not (tmp_path / "called").exists()


CHECKLIST = (
    "## 1. Ready?\n\n- [ ] one </code></pre><b>\n- [ ] two @all ${{ github.token }}\n- [ ] three\n\n- NO: STOP\n\n"
)


def test_a_checklist_is_confirmed_item_by_item(tmp_path: Path) -> None:
    run = Run(tmp_path, f'# A\n\n{CHECKLIST}## 2. Go\n\n```bash\necho ran >> "$LOG"\n```\n')
    first = run()
    assert (ending(first), "    [ ] 1. one </code></pre><b>\n" in first.summary) == ("WAITING 1", True)
    assert "--item 1 done: confirm item 1\n" in first.summary
    assert "-f resume=1 -f answers='1 --item 1 done'\n" in first.summary
    second = run(resume="1", answers="1 --item 1 done")
    assert (ending(second), "    [x] 1. one </code></pre><b>, done\n" in second.summary) == ("WAITING 1", True)
    assert "-f answers='1 --item 3 done'\n" in run(resume="2", answers="--item 2 n/a: see #12").summary
    fourth = run(resume="3", answers="yes")
    assert (ending(fourth), run.done()) == ("COMPLETE", ["ran"])
    assert "1 Ready? **2. two " in fourth.summary
    assert ": n/a: see " in fourth.summary


def test_the_summary_shows_the_output_to_judge(tmp_path: Path) -> None:
    command = "## 1\n\n```bash\nseq 1 30; printf '</pre>\\033[31m[x](http://y)\\033[0m token-1234\\n'\n```\n\n"
    settings = "---\nrdc: {logs: true, secrets: [TOKEN]}\n---\n\n"
    run = Run(tmp_path, settings + command + ASKS.replace("## 1", "## 2").replace("TRANSITIONS", "- NO: STOP"))
    run.secrets["TOKEN"] = "token-1234"
    shown = run().summary.partition("The output of the step before it ends with:\n")[2]
    assert shown.startswith("".join(f"    {number}\n" for number in range(12, 31)).removesuffix("\n")), shown
    assert "\n    </pre>[x](http://y) ***\n" in shown
    assert "token-1234" not in shown
