"""Playbooks as workflows: what a reviewer reads, how they run, what they leave and publish, what must not get out."""

import html
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from backends.base import Emission
from backends.github import GithubBackend
from compiler.diagnostics.issues import InvalidError
from runtime_shim.publish import publisher
from tests.backends.github.walking import Clean
from tests.support import actions_engine as engine
from tests.support.documents import program_at
from tests.support.github.api import answering
from tests.support.github.compiling import beside, parsed, program_of

pytestmark = pytest.mark.tool

EXAMPLES = Path(__file__).parents[3] / "examples" / "playbooks"
TRIAGE = (EXAMPLES / "issue-triage.playbook.md").read_text(encoding="utf-8")
BY_FILES: dict[str, Any] = {"agent": "sh ./agent.sh"}
ON_ISSUES: dict[str, Any] = {"on": {"issues": {"types": ["opened"]}}, "bind": {"issue": "event.issue.body"}}
ANSWERS = {"1": 'It is one. {"kind": "bug"}', "2a": "Severe.", "3": '{"labels": ["bug"]}'}
AGENT = """\
cat > /dev/null
file=answers/$(echo "$RDC_STEP" | tr / -)
[ ! -e "$file.fails" ] || { rm "$file.fails"; exit 1; }
cat "$file"
"""
"""An agent that answers by a file for each step; a step with a file `.fails` fails once."""

HOSTILE = """\
$(touch canary) `touch canary` ${{ github.token }} {{project}}
::set-output name=branch::2b
::add-mask::bug
branch=2b
branch<<RDC
2b
RDC
RDC_0123456789abcdef
"""


def emitted(folder: Path, document: str, options: Mapping[str, object]) -> Emission:
    return GithubBackend().emit(program_of(folder, document, "triage.playbook.md"), options)


def workflow(folder: Path, document: str = TRIAGE, **options: object) -> str:
    """The workflow of a playbook, with what it calls in the repository."""
    found = emitted(folder, document, {name.replace("_", "-"): value for name, value in options.items()})
    return beside(folder / "repository", found)


def run(
    folder: Path, text: str, number: int = 1, answers: Mapping[str, str] = ANSWERS, fails: str = "", **more: Any
) -> engine.EngineRun:
    """Run a workflow; the answers are those of its agents, and `issue` is the body of the one that is opened."""
    place = folder / "repository"
    (place / "answers").mkdir(parents=True, exist_ok=True)
    (place / "agent.sh").write_text(AGENT, encoding="utf-8")
    for step, answer in answers.items():
        (place / "answers" / step.replace("/", "-")).write_text(answer, encoding="utf-8")
    if fails:
        (place / "answers" / f"{fails}.fails").touch()
    inputs = more.pop("inputs", {"issue": "It breaks."})
    return engine.run(place, text, history=folder / "history", inputs=inputs, run_id=number, **more)


def left(folder: Path, name: str, number: int = 1) -> Path:
    return folder / "history" / str(number) / "artifacts" / name


def steps_of(text: str) -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in parsed(text)["jobs"]["playbook"]["steps"]}


def test_a_reviewer_reads_what_people_may_choose_and_what_branches_where(tmp_path: Path) -> None:
    found = workflow(tmp_path, (EXAMPLES / "newsletter.playbook.md").read_text(encoding="utf-8"), agent="cat")
    assert found.count("A prompt starts with its context. `{NAME}` is a value of the run.") == 1
    choices = '"factual", "cheerful", "very short"'
    assert f"# The run waits here. A person continues it and chooses one of {choices}." in found
    assert "# The run waits here. A person continues it with the answer yes or no." in found
    names = [step["name"] for step in parsed(found)["jobs"]["playbook"]["steps"]]
    assert len(names) == len({*names})


def test_a_prompt_that_a_variable_holds_leaves_the_others_readable(tmp_path: Path) -> None:
    steps = "## STEP 1: Ask\n\nSay.\n\n@output(ask)\n\n## STEP 2: Do\n\n@prompt({{ask}})\n\nUse {{ask}}.\n"
    shown = steps_of(workflow(tmp_path, f"# Two\n\n{steps}", agent="cat"))["2. Do"]["env"]["PROMPT"]
    assert shown == "## Output of step 1: Ask (ask)\n\n{output 1}\n\n{{ask}}\n\nUse {{ask}}.\n"


def test_a_reviewer_reads_all_that_an_agent_is_given(tmp_path: Path) -> None:
    system = "# A\n\n## SYSTEM\n\nYou are brief, in {{tone}}.\n\n## INPUTS\n\n- `tone` (string: plain): How\n\n"
    steps = "## STEP 1: One\n\nWrite.\n\n@output(draft)\n\n## STEP 2: Two\n\nShorten.\n"
    shown = steps_of(workflow(tmp_path, system + steps, agent="cat"))["2. Two"]["env"]["PROMPT"]
    assert shown == "You are brief, in {tone}.\n\n## Output of step 1: One (draft)\n\n{output 1}\n\nShorten.\n"


def test_no_tool_finds_anything_in_the_examples(clean: Clean) -> None:
    tools = ("library", "metrics", "mcp", "tracker")
    modes: list[dict[str, object]] = [
        {},
        {"summary": True, "publish": ["summary", "pull-request"], "agent-retries": 2, "agent-timeout": "5m"},
        {"publish": ["comment", "artifact"], "on": ["issues", "pull_request", "workflow_dispatch"]},
    ]
    for index, path in enumerate(sorted(EXAMPLES.glob("*.playbook.md"))):
        made = program_at(path)
        bind = {item.name: item.default or (item.options or ["1"])[0] for item in made.inputs if item.required}
        connections = {getattr(node.task, "connection", "") for node in made.nodes} - {""}
        mode = modes[index % len(modes)]
        options = {"agent": "claude-code", "tools": dict.fromkeys([*tools, *connections], "cat"), **mode}
        options |= {"bind": bind} if "on" in mode else {}
        if made.artifact is None:
            options.pop("publish", None)
        found = GithubBackend().emit(made, options)
        assert found.text, found.diagnostics
        clean(found.text)


def test_each_step_stands_for_itself_and_branches_by_a_label(tmp_path: Path) -> None:
    text = workflow(tmp_path, agent="claude-code", agents={"reviewer": "cat"}, tools={"github": "cat"})
    steps = steps_of(text)
    called = {step["env"]["RDC_OPTIONS"] for step in steps.values() if "RDC_OPTIONS" in step.get("env", {})}
    assert called == {"--agent=claude-code"}, "commands that nothing calls are not in the job"
    names = ["1. Classify", "2a. Analyze the bug", "2b. Specify the feature", "2. Work on it, else"]
    names += ["3. Suggest labels"]
    assert [name for name in steps if name in names] == names
    assert steps["2a. Analyze the bug"]["if"] == "steps.classify.outputs.next == '2a'"
    assert "if" not in steps["3. Suggest labels"]
    assert steps["1. Classify"]["env"]["PROMPT"].startswith("Read this issue of {{project}}:")
    assert steps["2a. Analyze the bug"]["env"]["PROMPT"].split("{kind}\n\n")[1].startswith("Say how severe")
    assert '      # PASS, kind == "feature": GOTO 2b\n' in text


def test_steps_that_call_an_agent_have_its_name_its_secrets_and_time_for_all_attempts(tmp_path: Path) -> None:
    agent = {"run": "claude-code", "secrets": ["KEY"], "setup": [{"name": "Install", "run": "npm ci"}]}
    limits: dict[str, Any] = {"agent_model": "opus", "agent_timeout": "10m", "agent_retries": 2}
    steps = steps_of(workflow(tmp_path, agent=agent, secrets=["KEY"], **limits))
    holding = [name for name, step in steps.items() if "KEY" in step.get("env", {})]
    assert holding == [*(name for name in steps if name[:1] in "123"), "Close the run"]
    assert list(steps).index("Install") < list(steps).index("1. Classify")
    first = steps["1. Classify"]
    assert first["env"]["RDC_OPTIONS"].split("\n")[:2] == ["--agent=claude-code", "--agent-model=opus"]
    assert first["timeout-minutes"] == 32


@pytest.mark.parametrize(
    ("document", "options", "fragment"),
    [
        (TRIAGE, {"publish": "comment"}, "no event in `on` has one"),
        (TRIAGE, {"publish-file": "a.md"}, "works only with `publish: pull-request` and a last output"),
        (TRIAGE[: TRIAGE.index("## ARTIFACTS")], {"publish": "summary"}, ""),
    ],
)
def test_publications_that_cannot_be_are_refused(
    tmp_path: Path, document: str, options: dict[str, object], fragment: str
) -> None:
    found = emitted(tmp_path, document, {"agent": "llm", **options})
    assert found.text is None
    assert [(item.code, fragment in item.message) for item in found.diagnostics] == [("RD013", True)]


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"publish": "pull-request", "publish-file": "../a.md"}, "path from the root"),
        ({"publish": "pull-request", "publish-file": ".github/workflows/a.yml"}, "must not write files in"),
        ({"agent": "./mine", "agent-model": "x"}, "called by name"),
        ({"agent-timeout": "soon"}, "90s"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, object], fragment: str) -> None:
    with pytest.raises(InvalidError, match=fragment):
        emitted(tmp_path, TRIAGE, {"agent": "llm", **options})


def test_a_mock_run_leaves_prompts_answers_and_the_last_output(tmp_path: Path) -> None:
    text = workflow(tmp_path, agent=f"{sys.executable} -P -m rdc mock mocks.json")
    mocks = json.dumps({"agents": {step: [answer] for step, answer in ANSWERS.items()}})
    (tmp_path / "repository" / "mocks.json").write_text(mocks, encoding="utf-8")
    done = run(tmp_path, text)
    assert (done.conclusion, "| 1 Classify | PASS |" in done.summary) == ("success", True), done.log
    assert "| 2a Analyze the bug | PASS |" in done.summary
    assert "2b. Specify the feature |" not in done.summary
    assert "| 2. Work on it |" not in done.summary
    assert '"2/else Work on it"' in done.summary, "the picture has all that it might have done"
    saved = left(tmp_path, "rdc-transcript")
    assert (saved / "answers" / "2a.1").read_text() == "Severe."
    assert "## Output of step 2a: Analyze the bug\n\nSevere.\n" in (saved / "prompts" / "3.1").read_text()
    rows = [json.loads(line[9:]) for line in (saved / "journal").read_text().splitlines()]
    assert [row["node"] for row in rows if row["kind"] == "done"] == ["1", "2a", "3"]
    assert (left(tmp_path, "triage.json") / "triage.json").read_text() == '{"labels": ["bug"]}'


@pytest.mark.parametrize("kind", ["BUG", pytest.param("bug\n", marks=pytest.mark.soak)])
def test_a_branch_is_taken_by_exactly_its_text(tmp_path: Path, kind: str) -> None:
    answers = {"1": json.dumps({"kind": kind}), "2a": "A", "2/else": "B", "3": "C"}
    done = run(tmp_path, workflow(tmp_path, **BY_FILES), answers=answers)
    assert done.conclusion == "success", done.log
    is_bug = kind == "bug\n"  # spaces around are removed
    assert (left(tmp_path, "rdc-transcript") / "answers" / "2a.1").exists() == is_bug
    assert ("| 1 Classify | PASS, the answer is not one of bug, feature, question |" in done.summary) != is_bug
    assert ("the answer is not one of bug, feature, question" in done.log) != is_bug


def test_a_call_is_made_again_and_the_budget_ends_a_run(tmp_path: Path) -> None:
    spent = run(tmp_path, workflow(tmp_path, agent_retries=1, agent_calls=3, **BY_FILES), fails="2a")
    assert "2a: exit code 1; trying again in 2.0 s" in spent.log
    assert "| 2a Analyze the bug | PASS |" in spent.summary
    assert (spent.conclusion, "the budget of 3 agent calls is spent" in spent.log) == ("failure", True), spent
    assert "rdc: STOP" in spent.log
    assert "3. Suggest labels |" not in spent.summary


def test_secrets_are_saved_nowhere(tmp_path: Path) -> None:
    agent = {"run": 'cat > /dev/null; echo "$KEY {\\"kind\\": \\"bug\\"}"', "secrets": ["KEY"]}
    text = workflow(tmp_path, agent=agent, secrets=["KEY"])
    done = run(tmp_path, text, secrets={"KEY": "very-secret"}, inputs={"issue": "very-secret?"})
    assert done.conclusion == "success", done.log
    files = [path for path in (tmp_path / "history" / "1" / "artifacts").rglob("*") if path.is_file()]
    assert len(files) > 6
    assert all(b"very-secret" not in path.read_bytes() for path in files)


def test_nothing_hostile_becomes_more_than_a_text(tmp_path: Path, clean: Clean) -> None:
    answers = {**ANSWERS, "1": '{"kind": "bug"}\n' + HOSTILE}
    text = workflow(tmp_path, TRIAGE.replace("Is it a bug,", f"{HOSTILE}\nIs it a bug,"), **BY_FILES, **ON_ISSUES)
    payload = {"issue": {"number": 7, "body": HOSTILE}}
    done = run(tmp_path, text, answers=answers, event="issues", payload=payload, inputs={})
    assert done.conclusion == "success", done.log
    saved = left(tmp_path, "rdc-transcript")
    assert (saved / "answers" / "2a.1").exists()
    assert not list(tmp_path.rglob("canary"))
    first, second = ((saved / "prompts" / name).read_text() for name in ("1.1", "2a.1"))
    assert HOSTILE.strip() in first, "the issue"
    assert HOSTILE.replace("{{project}}", "our project").strip() in first, "the document"
    assert HOSTILE.strip() in second, "the answer"
    clean(text)


LOUD = (
    "@octocat and @owner/team, closes #1 and gh-2 and https://github.com/o/r/issues/3\n/deploy\n"
    "![x](http://x/?s)<img src=x>"
)


def published(
    folder: Path, answer: str = LOUD, kind: str = "comment", **options: object
) -> tuple[engine.EngineRun, list[Any], list[tuple[str, str]]]:
    """A run whose last output is an answer, what GitHub's stub was sent, and what it was asked."""
    document = TRIAGE.replace("type: json", "type: markdown")
    text = workflow(folder, document, publish=kind, **BY_FILES, **ON_ISSUES, **options)
    bodies: list[Any] = []
    asked: list[tuple[str, str]] = []

    def api(method: str, path: str, authorization: str) -> tuple[int, object]:
        asked.append((method, path))
        assert authorization.startswith("Bearer ")
        path = path.removeprefix("/repos/owner/repository")
        known = {"": {"default_branch": "main"}, "/git/ref/heads/main": {"object": {"sha": "0" * 40}}}
        if method == "GET":
            return (200, known[path]) if path in known else (404, {})
        return 201, {"number": 5}

    payload = {"issue": {"number": 7, "body": "It breaks."}}
    with answering(api, bodies) as url:
        event: dict[str, Any] = {"event": "issues", "payload": payload, "inputs": {}, "github": {"api_url": url}}
        done = run(folder, text, answers={**ANSWERS, "3": answer}, **event)
    return done, bodies, asked


def test_a_comment_is_written_by_a_job_of_its_own_and_is_harmless(tmp_path: Path) -> None:
    done, bodies, asked = published(tmp_path)
    assert done.exit_code == 0, done.log
    assert asked == [("POST", "/repos/owner/repository/issues/7/comments")]
    body = bodies[0]["body"]
    for loud in ("@octocat", "@owner", "#1", "gh-2", "github.com/o/r/issues", "\n/deploy", "![", "<img"):
        assert loud not in body
    assert "octocat" in body.replace("\u200b", "")


@pytest.fixture
def comments(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What GitHub is sent as comments on an issue."""
    found: list[str] = []
    monkeypatch.setattr(publisher, "ask", lambda _method, _path, body: found.append(body["body"]))
    for name, value in {"NUMBER": "7", "SERVER_URL": "https://x", "REPOSITORY": "o/r", "RUN_ID": "1"}.items():
        monkeypatch.setenv(name if name == "NUMBER" else f"GITHUB_{name}", value)
    return found


def test_what_is_published_spells_no_name_by_its_characters_and_hides_nothing_of_rdc(comments: list[str]) -> None:
    publisher.comment("a.md", b"&#64;octocat &commat;owner &#x23;1 #&#49; AT&T a && b\n```\n" + b"x" * 70_000)
    signed, long, text = comments[0].split("\n\n", 2)
    assert signed == "From [this run](https://x/o/r/actions/runs/1)."
    assert long.startswith("This text is cut")
    shown = html.unescape(text)
    assert not {loud for loud in ("@octocat", "@owner", "#1") if loud in shown}
    assert "AT&T a && b\n" in shown
    assert 59_000 < len(comments[0]) < 61_000
    assert "artifacts of the run have all of it" in long


REFERENCES = (
    "https://GITHUB.com/o/r/issues/3", "https://github.com/o/r/pulls/3", "[x](https://github.com/o/r/issues\\/3)",
    "https://github.com/o/r/PULL/3/files", "https://github.com/o/r/issues//3",
    "https://git.example.org/o/r/issues/3", "https://git.example.org:8443/o/r/pull/3",
    "https://acme.ghe.com/o/r/discussions/3", "http://git/o/r/commit/0123abc",
    "https://github.com/o/r/pull/3/commits/0123abcdef",
    "Closes https://git.example.org/o/r/Issues/3#issuecomment-1",
)  # fmt: skip


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_comment_refers_to_nothing_on_any_host(reference: str, comments: list[str]) -> None:
    publisher.comment("a.md", f"See {reference} and src/issues/a.py.\n".encode())
    body = comments[0].split("\n\n", 1)[1]
    assert not re.search(r"(?i)/(issues|pulls?|discussions|commits?)[\\/]+[0-9]", body)
    assert reference in body.replace("\u200b", "")
    assert "src/issues/a.py" in body


def test_a_pull_request_changes_one_file(tmp_path: Path) -> None:
    done, bodies, asked = published(tmp_path, kind="pull-request", publish_file="docs/triage.md")
    assert done.exit_code == 0, done.log
    assert [method for method, _ in asked] == ["GET", "GET", "GET", "POST", "PUT", "POST"]
    assert asked[4] == ("PUT", "/repos/owner/repository/contents/docs/triage.md")
    assert bodies[2]["head"] == bodies[1]["branch"] == "rdc/triage.md-1-1"


def test_a_summary_shows_a_text_that_does_nothing(tmp_path: Path) -> None:
    done, _, asked = published(tmp_path, kind="summary")
    assert (done.exit_code, asked) == (0, [])
    assert "octocat" in done.summary
    assert "@octocat" not in done.summary


def test_jobs_that_publish_may_do_only_that(tmp_path: Path) -> None:
    kinds = ["comment", "pull-request", "summary"]
    agent = {"run": "llm", "secrets": ["KEY"]}
    jobs = parsed(workflow(tmp_path, agent=agent, secrets=["KEY"], publish=kinds, **ON_ISSUES))["jobs"]
    assert jobs["playbook"]["permissions"] == {"contents": "read"}
    assert jobs["publish_comment"]["permissions"] == {"contents": "read", "issues": "write"}
    assert jobs["publish_pull_request"]["permissions"] == {"contents": "write", "pull-requests": "write"}
    assert jobs["publish_summary"]["permissions"] == {"contents": "read"}
    for name in ("publish_comment", "publish_pull_request", "publish_summary"):
        assert "KEY" not in json.dumps(jobs[name])
        assert "RDC_OPTIONS" not in json.dumps(jobs[name])


@pytest.mark.soak
def test_a_run_that_has_waited_behind_a_branch_goes_on_there_and_saves_what_was_answered(tmp_path: Path) -> None:
    before, heading, after = TRIAGE.partition("### STEP 2a: Analyze the bug\n")
    book = f'{before}{heading}\n@elicit(input, "How severe is it?")\n\n```elif{after.partition("```elif")[2]}'
    text = workflow(tmp_path, book, **BY_FILES)
    assert "2a needs an answer" in run(tmp_path, text).log
    second = run(tmp_path, text, 2, inputs={"resume": "1", "answers": "Very."})
    assert (second.conclusion, "rdc: COMPLETE" in second.log) == ("success", True), second.log
    assert (left(tmp_path, "rdc-transcript") / "answers" / "1.1").read_text() == ANSWERS["1"]
    assert "Very." in (left(tmp_path, "rdc-transcript", 2) / "prompts" / "3.1").read_text()


def test_nothing_is_published_of_a_run_that_has_stopped(tmp_path: Path) -> None:
    text = workflow(tmp_path, publish="comment", **BY_FILES, **ON_ISSUES)
    payload = {"issue": {"number": 7, "body": "It breaks."}}
    done = run(tmp_path, text, fails="1", event="issues", payload=payload, inputs={})
    assert (done.conclusion, done.jobs["publish_comment"].result) == ("failure", "skipped")
