"""Who may start a workflow by a comment, and with what a called agent starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.github import GithubBackend
from compiler.diagnostics.issues import InvalidError
from tests.support import actions_engine as engine
from tests.support.cli import call
from tests.support.github.compiling import emission, parsed, text_of

pytestmark = pytest.mark.tool

COMMAND = '## 1. Build\n\n```bash\necho ran >> "$LOG"\n```\n'
ASKING = COMMAND + "\n## 2. Publish?\n\n- YES: CONTINUE\n- NO: STOP\n\n" + COMMAND.replace("1. Build", "3. Publish")
TRUSTED = ["OWNER", "MEMBER"]
AGENT = "name: Note\nsteps:\n  - name: draft\n    prompt: Write.\n    end: true\n"


@pytest.mark.parametrize(
    ("event", "subject"),
    [
        ("issue_comment", "comment"),
        ("discussion_comment", "comment"),
        ("pull_request_review_comment", "comment"),
        ("pull_request_review", "review"),
        ("issues", "issue"),
        ("discussion", "discussion"),
        ("pull_request", "pull_request"),
    ],
)
@pytest.mark.parametrize("others", [[], ["workflow_dispatch"]], ids=["alone", "beside others"])
def test_only_these_authors_start_a_run(others: list[str], event: str, subject: str, tmp_path: Path) -> None:
    options = {"on": [event, *others], "if-author": TRUSTED, "checkout": False, "prompts": "environment"}
    document = ASKING if others and event in {"issue_comment", "pull_request"} else COMMAND
    (tmp_path / "r").mkdir()
    workflow = text_of(tmp_path / "r", document, options)
    for number, (author, starts) in enumerate({"MEMBER": True, "COLLABORATOR": False, "": False}.items()):
        run = engine.run(
            tmp_path / "r",
            workflow,
            history=tmp_path / f"h{number}",
            event=event,
            payload={subject: {"author_association": author, "number": 1}, "action": "created"},
            environments={"approval": ["approved"]},
            env={"LOG": str(tmp_path / "log")},
        )
        ran = [job for job in run.jobs.values() if job.steps]
        assert bool(ran) == starts, (author, run)


def test_events_without_an_author_start_a_run_as_before(tmp_path: Path) -> None:
    options = {"on": ["issue_comment", "workflow_dispatch", "push"], "if-author": TRUSTED, "checkout": False}
    workflow = text_of(tmp_path, COMMAND, options)
    for event in ("workflow_dispatch", "push"):
        env = {"LOG": str(tmp_path / "log")}
        assert engine.run(tmp_path, workflow, history=tmp_path / event, event=event, env=env).conclusion == "success"
    assert (tmp_path / "log").read_text(encoding="utf-8") == "ran\nran\n"


def test_jobs_have_no_condition_without_the_option(tmp_path: Path) -> None:
    (job,) = parsed(text_of(tmp_path, COMMAND, {"on": "issue_comment"}))["jobs"].values()
    assert "if" not in job


@pytest.mark.parametrize("on", ["push", ["workflow_dispatch"], {"workflow_run": {"workflows": ["CI"]}}])
def test_the_option_needs_an_event_with_an_author(on: object) -> None:
    with pytest.raises(InvalidError, match="`if-author` needs an event with an author in `on`: issue_comment"):
        GithubBackend().options.validated({"on": on, "if-author": TRUSTED})


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"on": "issue_comment"}, "`issue_comment` has no guard on the author"),
        ({"on": ["push", "discussion_comment"]}, "`discussion_comment` has no guard on the author"),
        ({"on": {"workflow_run": {"workflows": ["CI"]}}}, "`workflow_run` has no author"),
        (
            {"on": {"workflow_run": {"workflows": ["CI"]}, "issue_comment": None}, "if-author": ["OWNER"]},
            "`workflow_run` has no author",
        ),
        ({"on": "issue_comment", "if-author": ["OWNER"]}, ""),
        ({"on": {"issues": {"types": ["opened"]}}}, ""),
        ({"on": ["pull_request", "pull_request_review_comment", "push", "workflow_call"]}, ""),
    ],
)
def test_an_event_that_strangers_cause(options: dict[str, object], fragment: str, tmp_path: Path) -> None:
    found = [item for item in emission(tmp_path, COMMAND, options).diagnostics if item.code == "RD549"]
    assert [fragment in item.message for item in found] == [True] * bool(fragment)


KEY = {"secrets": ["KEY"]}
INSTALLED = {"setup": [{"run": "npm install x"}]}


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"agent": "claude-code"}, "no set-up that installs it and no secret with its key"),
        ({"agent": "claude-code", **KEY}, "the agent claude-code has no set-up that installs it"),
        ({"agent": "claude-code", **INSTALLED}, "the agent claude-code has no secret with its key"),
        ({"agents": {"writer": "codex"}, "agent": "true"}, "the agent codex has no set-up"),
        ({"agent": {"run": "llm", **INSTALLED}, **KEY}, "no secret with its key"),
        ({"agent": {"run": "llm", **INSTALLED, **KEY}, **KEY}, ""),
        ({"agent": "gemini", **INSTALLED, **KEY}, ""),
        ({"agent": "claude-code", "runs-on": ["self-hosted", "linux"]}, ""),
        ({"agent": "claude-code", **INSTALLED, "permissions": {"contents": "read", "id-token": "write"}}, ""),
        ({"agent": "claude -p"}, "the agent claude has no set-up that installs it"),
        ({"agent": "claude -p"}, "write `agent: {run: 'claude -p', setup: [{run: COMMAND}]}`"),
        ({"agent": {"run": "claude -p", **INSTALLED}}, ""),
        ({"agent": "claudette -p"}, ""),
        ({"agent": "./claude-code"}, ""),
    ],
)
def test_an_agent_that_nothing_installs(options: dict[str, object], fragment: str, tmp_path: Path) -> None:
    (tmp_path / "note.workflow.yaml").write_text(AGENT, encoding="utf-8")
    lines = [f"  {name} = {toml(value)}" for name, value in options.items()]
    (tmp_path / "rdc.toml").write_text("\n".join(["[github]", *lines, ""]), encoding="utf-8")
    for command in (["check"], ["compile", "--to", "github"]):
        result = call(*command, "note.workflow.yaml", cwd=tmp_path)
        assert ("RD550" in result.err) == bool(fragment), result.err
        assert fragment in result.err
        assert result.code == 0


def toml(value: object) -> str:
    """A value for a configuration."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return f'"{value}"'


def test_a_document_may_ignore_these_warnings(tmp_path: Path) -> None:
    for above, code in (("", 1), ("    # rdc: ignore RD549\n", 0)):
        head = f"---\nrdc:\n  github:\n{above}    on: issue_comment\n---\n"
        (tmp_path / "a.runbook.md").write_text(f"{head}{COMMAND}", encoding="utf-8")
        assert call("check", "--strict", "a.runbook.md", cwd=tmp_path).code == code


@pytest.mark.parametrize(
    ("out", "is_fine"),
    [
        (".github/workflows/a.yml", True),
        (".github/workflows/", True),
        (".github/workflow/x/a.yml", True),
        ("workflows/x/a.yml", True),
        (".github/workflows/x/a.yml", False),
        (".github/workflows/x/", False),
        (".github/workflows/x/y/a.yml", False),
        ("other/../.github/workflows/x/a.yml", False),
    ],
)
def test_github_ignores_workflows_in_subfolders(out: str, is_fine: bool, tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(COMMAND, encoding="utf-8")
    for folder in (".github/workflows/x/y", ".github/workflow/x", "workflows/x", "other"):
        (tmp_path / folder).mkdir(parents=True)
    result = call("compile", "--to", "github", "a.runbook.md", "-o", out, cwd=tmp_path)
    assert ("RD548" not in result.err, result.code == 0) == (is_fine, is_fine)
    if not is_fine:
        assert "write it to .github/workflows/a.yml\n" in result.err
        assert not list(tmp_path.rglob("*.yml"))
