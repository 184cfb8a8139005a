"""A run that waits for an answer goes on in another run: with its workspace, its id, and nothing done twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from backends.github import GithubBackend
from compiler.driver import compile_file
from tests.backends.github.walking import Engine
from tests.support.github import act
from tests.support.github.compiling import beside, parsed, text_of

pytestmark = pytest.mark.share(3)

DOCUMENT = """\
# Deploy

## 1. Build

```bash
echo "$RDC_RUN_ID build" >> "$LOG"
mkdir -p out/.hidden && echo built > out/.hidden/result && ln -s result out/.hidden/link
printf '#!/bin/sh\\necho ran\\n' > out/tool && chmod +x out/tool
echo hello > greeting
```

## 2. Count

```bash
echo "$RDC_RUN_ID count $RDC_ATTEMPT" >> "$LOG"
[ "$RDC_ATTEMPT" = 2 ]
```

- FAIL: RETRY 3 STOP

## 3. Agree

Is the build good?

- YES: CONTINUE
- NO: STOP "Not wanted"

## 4. Install

```bash
echo "$RDC_RUN_ID install $(cat greeting) $(./out/tool) $(cat out/.hidden/link)" >> "$LOG"
```

## 5. Does it work?

Look at the page.

- YES: COMPLETE "All is well"
- NO: GOTO 3
"""


class Run:
    """A workflow in a folder, run again and again; each run has a number."""

    def __init__(self, folder: Path, document: str = DOCUMENT, options: Mapping[str, object] | None = None) -> None:
        self.folder = folder
        (folder / "deploy.runbook.md").write_text(document, encoding="utf-8")
        program = compile_file(str(folder / "deploy.runbook.md")).program
        assert program
        self.text = beside(
            folder, GithubBackend().emit(program, {"summary": True, "prompts": "answers", **(options or {})})
        )
        self.log = folder.parent / "log"
        self.artifacts = folder.parent / "artifacts"
        self.number = 0
        self.api = ""
        self.secrets: dict[str, str] = {}

    def __call__(
        self, *, run_attempt: int = 1, event: str = "workflow_dispatch", payload: object = None, **inputs: str
    ) -> act.ActRun:
        self.number += run_attempt == 1
        env = {"LOG": str(self.log), "ARTIFACTS": str(self.artifacts)}
        secrets = act.TOKEN | self.secrets
        return act.run(
            self.folder,
            self.text,
            event=event,
            payload=payload,
            inputs=inputs,
            env=env,
            secrets=secrets,
            run_id=self.number,
            run_attempt=run_attempt,
            api_url=self.api,
        )

    def kept(self, number: int = 1) -> Path:
        """The files that a run has kept."""
        return self.artifacts / str(number) / "rdc-state"

    def done(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "repository").mkdir()
    return Run(tmp_path / "repository")


def said(ran: act.ActRun) -> str:
    """How a run ended, by the heading of its summary."""
    return str(next(iter(re.findall(r"^### (.*)$", ran.summary, re.MULTILINE)), ""))


def test_it_goes_on_where_it_stood_with_its_workspace(run: Run) -> None:
    first = run()
    assert (said(first), first.exit_code != 0) == ("WAITING 3", True)
    second = run(resume="1", answers="yes")
    assert said(second) == "WAITING 5"
    third = run(resume="2", answers="5 yes")
    assert (said(third), third.exit_code) == ("COMPLETE All is well", 0)
    assert run.done() == ["1 build", "1 count 1", "1 count 2", "1 install hello ran built"]


def test_a_run_that_waits_before_anything_is_done_goes_on(tmp_path: Path) -> None:
    run = Run(tmp_path, "## 1\n\nGo?\n\n- YES: CONTINUE\n- NO: STOP\n\n## 2\n\nSure?\n")
    assert said(run()) == "WAITING 1"
    assert said(run(resume="1", answers="yes")) == "WAITING 2"
    assert said(run(resume="2", answers="pass")) == "COMPLETE"


def test_the_summary_says_how_to_go_on(run: Run) -> None:
    summary = run().summary
    assert "### WAITING 3" in summary
    assert "    Is the build good?\n" in summary
    assert "    gh workflow run runbook.yml --ref main -f resume=1 -f answers='3 yes'\n" in summary
    assert "called this one" not in summary
    assert "| 2. Count | 2 | PASS |" in summary
    assert "3. Agree |" not in summary, "it has no outcome yet"


PULL = {"pull_request": {"number": 12, "head": {"ref": "a$(id)b", "repo": {"full_name": "owner/repository"}}}}


def test_a_pull_request_goes_on_at_its_branch(tmp_path: Path) -> None:
    run = Run(tmp_path, options={"on": ["pull_request", "push"]})
    assert "--ref 'a$(id)b' -f resume=1 " in run(event="pull_request", payload=PULL).summary
    assert "--ref main -f resume=2 " in run(event="push").summary


def test_the_summary_does_not_promise_to_go_on_with_the_run_of_a_fork(tmp_path: Path) -> None:
    run = Run(tmp_path, options={"on": ["pull_request"]})
    payload = {"pull_request": {"head": {"ref": "main", "repo": {"full_name": "stranger/repository"}}}}
    summary = run(event="pull_request", payload=payload).summary
    assert "This run was started from a fork, so it cannot be continued." in summary
    assert "gh workflow run" not in summary


def test_a_workflow_that_others_call_says_what_they_can_do(tmp_path: Path) -> None:
    run = Run(tmp_path, options={"on": ["workflow_call", "workflow_dispatch"]})
    events = parsed(run.text)["on"]
    assert not events["workflow_call"]
    assert "If another workflow called this one, this run cannot be continued." in run().summary


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("transitions", "word"), [("- YES: CONTINUE\n- NO: STOP", "yes"), ("- PASS: CONTINUE\n- FAIL: STOP", "pass")]
)
@pytest.mark.parametrize("again", ["", "\n\n## 3\n\n```bash\ntrue\n```\n\n- FAIL: GOTO 2"])
def test_the_summary_suggests_an_answer_to_the_question(
    transitions: str, word: str, again: str, tmp_path: Path
) -> None:
    (tmp_path / "repository").mkdir()
    document = f"## 1\n\n```bash\ntrue\n```\n\n## 2. Agree\n\nIs it good?\n\n{transitions}{again}\n"
    run = Run(tmp_path / "repository", document)
    assert f"-f answers='2 {word}'\n" in run().summary
    last = run(resume="1", answers="2 fail")
    word_for_no = "NO" if word == "yes" else "FAIL"
    assert f"    {word_for_no}  answered by line" in last.log
    assert f"| 2. Agree | 1 | {word_for_no} |" in last.summary


def test_the_table_has_what_ran_before(run: Run) -> None:
    run()
    summary = run(resume="1", answers="3 no").summary
    rows = re.findall(r"^\| (\d\. \w+) \| (\d) \| (\w+) \|", summary, re.MULTILINE)
    assert rows == [
        ("1. Build", "1", "PASS"),
        ("2. Count", "1", "FAIL"),
        ("2. Count", "2", "PASS"),
        ("3. Agree", "1", "NO"),
    ]


def test_the_state_of_another_version_is_refused(run: Run, tmp_path: Path) -> None:
    run()
    changed = Run(run.folder, DOCUMENT.replace("Is the build good?", "Is it?"))
    changed.number = run.number
    ran = changed(resume="1", answers="yes")
    assert ran.exit_code
    assert "belongs to another version of this workflow" in ran.summary
    assert run.done() == ["1 build", "1 count 1", "1 count 2"]


def test_a_continuation_is_not_repeated(run: Run) -> None:
    """ "Re-run jobs" has the inputs of the first attempt: the state that it took over is that of another time."""
    run()
    assert said(run(resume="1", answers="yes")) == "WAITING 5"
    again = run(resume="1", answers="yes", run_attempt=2)
    assert said(again) == ""
    assert "Completed steps would run again. Instead, start this workflow with the input `resume`: 2" in again.summary
    assert len(run.done()) == 4
    assert said(run(resume="2", answers="yes")) == "COMPLETE All is well"


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("journal", lambda content: content[:-9]),
        ("workspace.tar.gz", lambda content: content[:-1] + bytes([content[-1] ^ 1])),
        ("workspace.tar.gz", lambda _: None),
        ("journal", lambda _: None),
        ("about.json", lambda _: None),
        ("about.json", lambda content: content.replace(b"journal", b"journey")),
        ("about.json", lambda content: content.replace(b'"run": "1"', b'"run": "2"')),
    ],
)
def test_a_saved_state_that_is_damaged_is_refused_before_anything_runs(
    run: Run, tmp_path: Path, name: str, damage: Callable[[bytes], bytes | None]
) -> None:
    run()
    (path,) = [path for path in (tmp_path / "artifacts").rglob(name) if path.is_file()]
    content = damage(path.read_bytes())
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    ran = run(resume="1", answers="yes")
    assert ran.exit_code
    assert "is damaged or incomplete. No step ran" in ran.summary
    assert run.done() == ["1 build", "1 count 1", "1 count 2"]


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ("3 maybe", "expected pass, fail, yes or no"),
        ("maybe", "expected pass, fail, yes or no"),
        ("3 yes; 5 no", "takes no answer"),
        ("yes\n5 no", "expected pass, fail, yes or no"),
        ("5 yes", "The run waits at 3, so it takes no answer to 5 yet"),
        ("$(touch {canary}) yes", "takes no answer"),
        ("`touch {canary}`", "expected pass, fail, yes or no"),
    ],
)
def test_an_answer_fits_the_question_that_was_shown(run: Run, answers: str, problem: str, tmp_path: Path) -> None:
    run()
    canary = tmp_path / "canary"
    ran = run(resume="1", answers=answers.replace("{canary}", str(canary)))
    assert ran.exit_code
    assert problem in ran.summary
    assert not canary.exists()
    assert len(run.done()) == 3


def test_a_new_run_takes_no_answers(run: Run) -> None:
    ran = run(answers="3 yes")
    assert "An answer needs a question that a run has shown" in ran.summary
    assert not run.log.exists()


def test_each_question_is_answered_after_it_was_shown(run: Run) -> None:
    run()
    assert said(run(resume="1", answers="yes")) == "WAITING 5"
    assert said(run(resume="2", answers="5 no")) == "WAITING 3"
    assert said(run(resume="3", answers="3 no")) == "STOP Not wanted"
    assert run.done()[3:] == ["1 install hello ran built"]


def test_a_further_attempt_repeats_no_completed_step(tmp_path: Path, walk: Engine) -> None:
    document = (
        '## 1. Publish\n\n```bash\necho published >> "$MARK"\n```\n\n'
        '## 2. Does the page look right?\n\n- YES: COMPLETE\n- NO: STOP "Take it back"\n'
    )
    mark = tmp_path / "mark"
    workflow = text_of(tmp_path, document, {"checkout": False})
    walk(workflow, env={"MARK": str(mark)})
    assert mark.read_text(encoding="utf-8") == "published\n"
    walk(workflow, env={"MARK": str(mark)}, rerun=True, github={"run_attempt": "2"})
    assert mark.read_text(encoding="utf-8") == "published\n"
